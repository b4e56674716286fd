"""Pstates and energy, decided by hand."""

from dataclasses import replace

import pytest

from batkube.batsim import messages as m
from batkube.batsim.platform import Platform, PlatformError
from batkube.simulator.conversation.errors import InvalidDecision
from tests.simulator.cluster import Game, job, platform, workload

SLEEP = 2


def powered(hosts: int = 3) -> Platform:
    """Hosts with two pstates to compute, one to sleep, 2 s to go off and 4 s to come back."""
    plain = platform(hosts)
    properties = {"wattage_per_state": "100:200, 50:80, 10:10, 60:60, 70:70", "sleep_pstates": "2:3:4"}
    by_name = {
        name: replace(host, speeds=(1e9, 5e8, 1e-3, 0.5, 0.25), properties=dict(properties))
        for name, host in plain.hosts_by_name.items()
    }
    return replace(plain, hosts_by_name=by_name)


def game(**profiles: dict[str, object]) -> Game:
    made = Game(workload(job("a"), job("b", profile="h"), **profiles), on=powered(), energy=True)
    made.then()
    return made


HEAVY = {"type": "parallel_homogeneous", "cpu": 4e9, "com": 0}


def switch(game: Game, hosts: str, pstate: int, at: float | None = None) -> m.Event:
    data = m.ResourceStateData(resources=hosts, state=str(pstate))
    return m.SetResourceState(timestamp=game.now if at is None else at, data=data)


def query(game: Game, at: float) -> m.Event:
    return m.Query(timestamp=at, data=m.QueryData(requests={"consumed_energy": {}}))


def test_hosts_that_go_to_sleep_and_wake_are_told_of_together() -> None:
    play = game(h=HEAVY)
    play.say(switch(play, "0-1", SLEEP))
    (told,) = play.next()
    assert isinstance(told, m.ResourceStateChanged)
    assert (told.timestamp, told.data.resources, told.data.state) == (2.0, "0-1", "2")
    play.say(switch(play, "1", 0))
    (told,) = play.next()
    assert isinstance(told, m.ResourceStateChanged)
    assert (told.timestamp, told.data.resources, told.data.state) == (6.0, "1", "0")


def test_a_task_goes_on_at_the_new_speed_when_the_pstate_changes_under_it() -> None:
    play = game(h=HEAVY)
    # Half of it at full speed, the other half at half.
    play.say(play.execute("b", "0"), switch(play, "0", 1, at=2.0), now=2.0)
    assert isinstance(play.next()[0], m.ResourceStateChanged)
    assert play.then() == [(6.0, "successfully w0!b 0 on 0")]
    assert [record.finish_time for record in play.simulator.records] == [6.0]


def test_joules_are_those_of_the_pstates_and_the_load() -> None:
    play = game(h=HEAVY)
    play.say(play.execute("b", "0"), query(play, at=1.0), now=1.0)
    (answer,) = play.next()
    assert isinstance(answer, m.Answer)
    assert answer.data.consumed_energy == pytest.approx(200 + 100 + 100)
    play.then()
    (record,) = play.simulator.records
    assert record.consumed_energy == pytest.approx(4 * 200)


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (lambda play: [switch(play, "0", 9)], "host 0 .h00. has no pstate 9: it has 5"),
        (lambda play: [switch(play, "7", 0)], "there is no host 7"),
        (lambda play: [play.execute("a", "0"), switch(play, "0", SLEEP)], "host 0 .h00. is busy with w0!a"),
        (lambda play: [switch(play, "0", SLEEP), play.execute("a", "0")], "host 0 .h00. is switching_off"),
        (lambda play: [switch(play, "0", SLEEP), switch(play, "0", SLEEP, at=3.0)], "sleeps: pstate 2 is not for"),
        (lambda play: [switch(play, "0", SLEEP), play.execute("a", "0", at=3.0)], "host 0 .h00. is sleeping"),
    ],
)
def test_what_batsim_aborts_on_is_refused(decide: object, message: str) -> None:
    assert callable(decide)
    play = game(h=HEAVY)
    with pytest.raises(InvalidDecision, match=message):
        play.say(*decide(play), now=3.0)


def test_every_host_but_the_master_needs_its_watts() -> None:
    lacking = powered()
    by_name = dict(lacking.hosts_by_name)
    by_name["master_host"] = replace(by_name["master_host"], properties={})
    Game(workload(job("a")), on=replace(lacking, hosts_by_name=by_name), energy=True)
    by_name["h01"] = replace(by_name["h01"], properties={})
    with pytest.raises(PlatformError, match="host 'h01': wattage_per_state: missing"):
        Game(workload(job("a")), on=replace(lacking, hosts_by_name=by_name), energy=True)
