"""The modules that a run of batkube loads, loaded before it is forked (see ``warm``)."""
# ruff: noqa: F401

import rich.progress
import typer
import uvloop

import batkube.commands.cli
import batkube.commands.run
import batkube.kube.server
import batkube.simulator.controls.exact
