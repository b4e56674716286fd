"""Power of hosts: what energy simulation reads of a platform file, and refuses."""

import pytest

from batkube.batsim.power import PowerRange, PstateKind, Transitions, check_power, host_power
from batkube.batsim.topology import Host, PlatformError


def host(pstates: int = 1, /, **properties: str) -> Host:
    return Host("h", (1e9,) * pstates, 1, properties, ("z",), {})


def test_two_values_are_idle_and_full_and_three_have_epsilon_between() -> None:
    power = host_power(host(2, wattage_per_state="95:200, 90.5:110:150"))
    assert power.ranges == (PowerRange(95.0, 95.0, 200.0), PowerRange(90.5, 110.0, 150.0))
    assert power.kinds == (PstateKind.COMPUTATION, PstateKind.COMPUTATION)


def test_sleep_pstates_name_the_way_off_and_the_way_on() -> None:
    power = host_power(host(4, wattage_per_state="1:2,1:2,1:2,1:2", sleep_pstates="1 : 2 : 3"))
    assert power.sleep == {1: Transitions(off=2, on=3)}
    assert power.kinds == (PstateKind.COMPUTATION, PstateKind.SLEEP, PstateKind.TRANSITION, PstateKind.TRANSITION)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({}, "host 'h': wattage_per_state: missing"),
        ({"wattage_per_state": "1:2,1:2"}, "wattage_per_state: has 2 pstates, and the host has 1"),
        ({"wattage_per_state": "1"}, "expected IDLE:FULL or IDLE:EPSILON:FULL, not '1'"),
        ({"wattage_per_state": "1:x"}, "wattage_per_state: expected watts, not 'x'"),
        ({"wattage_per_state": "1:2", "sleep_pstates": "0:1"}, "sleep_pstates: expected SLEEP:OFF:ON pstates"),
        ({"wattage_per_state": "1:2", "sleep_pstates": "0:1:2"}, "sleep_pstates: there is no pstate 1"),
        ({"wattage_per_state": "1:2", "sleep_pstates": "0:0:0"}, "pstate 0 is for sleep and for a transition"),
    ],
)
def test_what_batsim_refuses_is_refused(properties: dict[str, str], message: str) -> None:
    with pytest.raises(PlatformError) as refused:
        host_power(host(**properties))
    assert message in str(refused.value)


def test_watts_of_any_host_must_be_right() -> None:
    check_power([host()])
    with pytest.raises(PlatformError, match="wattage_off: expected watts"):
        check_power([host(wattage_off="none")])
