"""Controllers that need no program of their own: what kube-controller-manager does for Jobs and the like, in process.

They act at rest, on the simulated clock, in an order that follows from the simulation alone. A controller in ten lines:

    class Greeter(Controller):
        name = "greeter"                              # of its Events, and of the service account that it writes as
        wakes = ("configmaps",)                       # the kinds whose first object starts it
        follows = ("configmaps",)                     # the kinds whose changes it is told

        def changed(self, change: Change) -> None:    # at each change: only note what is to be looked at
            self.queue.add(change.version.key)

        def sync(self, key: Key) -> None:             # later, at rest: bring one object to where it should be
            found = self.cluster.get("configmaps", *key)
            if found is not None and "greeting" not in found.get("data", {}):
                self.client.modify("configmaps", *key, greet)
                self.recorder.event(found, NORMAL, "Greeted", "Said hello")

and a line in ``BUILT_IN`` (``catalogue.py``). ``queue.add_after(key, seconds)`` has it looked at again later.
"""
