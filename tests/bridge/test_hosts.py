"""The Node that a host's name and properties describe."""

import pytest

from batkube.bridge.errors import InputError
from batkube.bridge.hosts import Host, node
from batkube.bridge.time import SimulatedTime


def shown(name: str = "h", /, **properties: str) -> dict[str, str]:
    """The capacity and the labels of a node, together."""
    made = node(Host(7, name, cores=2, properties=properties), name, exclusive=False, now="1970-01-01T00:00:00Z")
    found: dict[str, str] = made["status"]["capacity"] | made["metadata"]["labels"]
    return found


@pytest.mark.parametrize(
    ("text", "memory"), [("8GiB", "8Gi"), ("8 GiB", "8Gi"), ("512MiB", "512Mi"), ("8Gi", "8Gi"), ("4000M", "4000M")]
)
def test_memory_may_be_spelt_as_simgrid_spells_sizes(text: str, memory: str) -> None:
    assert shown(memory=text)["memory"] == memory


@pytest.mark.parametrize(("name", "text"), [("memory", "8 gigs"), ("memory", "-1Gi"), ("core", "two"), ("pods", "1x")])
def test_a_property_that_is_no_quantity_is_named_with_its_host(name: str, text: str) -> None:
    with pytest.raises(InputError, match=f"^host rack-3: property {name} is '{text}': expected a quantity such as"):
        shown("rack-3", **{name: text})


def test_a_long_name_is_cut_in_the_label_and_told_apart_by_its_number() -> None:
    hostname = shown("n" * 80)["kubernetes.io/hostname"]
    assert hostname == "n" * 61 + "-7"


def test_a_date_that_kubernetes_cannot_write_is_refused() -> None:
    time = SimulatedTime(0.0)
    time.check(2.5e11, "job a: subtime")
    with pytest.raises(InputError, match=r"job a: subtime: 3e\+11 s, later than 253402300799: .* after the year 9999"):
        time.check(3e11, "job a: subtime")
