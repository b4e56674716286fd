"""The hash of a pod template is the one that kube-controller-manager gives it."""

from pathlib import Path

import pytest
import yaml

from batkube.controllers.templates.hash import data_hash, template_hash

TEMPLATES = Path(__file__).parent / "pod-template-hash"


@pytest.mark.parametrize(("name", "code"), [("much", "8454866477"), ("quantities", "5fbcdc474c")])
def test_it_is_that_of_go(name: str, code: str) -> None:
    """The codes are what ``main.go`` prints of these files."""
    assert template_hash(yaml.safe_load((TEMPLATES / f"{name}.yaml").read_text())) == code


def test_collisions_change_it() -> None:
    template = yaml.safe_load((TEMPLATES / "much.yaml").read_text())
    assert len({template_hash(template), template_hash(template, 0), template_hash(template, 1)}) == 3


def test_that_of_a_revision_is_of_its_bytes() -> None:
    assert data_hash(b"{}") != data_hash(b"{ }")
    assert data_hash(b"{}", 1) != data_hash(b"{}")
