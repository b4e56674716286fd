"""The plugins that are at work, called in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..kinds.strategy import Context
from ..schema.resources import ResourceType
from .plugin import Attributes, Plugin

_Step = Callable[[Attributes], None]
_Steps = tuple[tuple[_Step, ...], tuple[_Step, ...]]


class Admission:
    """The chain of plugins that change and refuse writes (`admission.chainAdmissionHandler`)."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self._plugins = tuple(plugins)
        self._entering = tuple(plugin.enter for plugin in self._plugins if type(plugin).enter is not Plugin.enter)
        self._steps: dict[tuple[str, str | None], _Steps] = {}

    def add(self, plugin: Plugin) -> None:
        """Ask one more plugin, after all others."""
        self._plugins += (plugin,)
        self._steps.clear()

    def remove(self, plugin: Plugin) -> None:
        """Ask a plugin no more that was added."""
        self._plugins = tuple(one for one in self._plugins if one is not plugin)
        self._steps.clear()

    def enter(self, resource: ResourceType, name: str, context: Context) -> None:
        """Call the plugins that look at a write before anything is done."""
        for enter in self._entering:
            enter(resource, name, context)

    def admit(self, write: Attributes) -> None:
        """Let the plugins change the object, or raise ApiError."""
        for admit in self._steps_of(write.context)[0]:
            admit(write)

    def validate(self, write: Attributes) -> None:
        """Raise ApiError if a plugin refuses the write."""
        for validate in self._steps_of(write.context)[1]:
            validate(write)

    def _steps_of(self, context: Context) -> _Steps:
        key = (context.resource.storage, context.subresource)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = self._find(*key)
        return found

    def _find(self, storage: str, subresource: str | None) -> _Steps:
        wanted = {storage, "*"} if subresource is None else {f"{storage}/{subresource}"}
        asked = [plugin for plugin in self._plugins if not wanted.isdisjoint(plugin.handles)]
        return (
            tuple(plugin.admit for plugin in asked if type(plugin).admit is not Plugin.admit),
            tuple(plugin.validate for plugin in asked if type(plugin).validate is not Plugin.validate),
        )
