"""The controllers that are built in, in the order in which they act where several have something to do."""

from batkube.controllers.controller import Controller
from batkube.controllers.job.controller import JobController

BUILT_IN: tuple[type[Controller], ...] = (JobController,)
