"""Server-side apply: objects that several managers own field by field.

`fields` has sets of field paths and their form in managedFields. `types` says how the lists and maps of each kind
merge. `merge` compares, merges and prunes objects by these types. `managers` keeps the ownership. `kubectl` is about
kubectl's move from client-side apply. The verb is `verbs/apply.py`.

An object has managedFields from the first write on that names its field manager. Until then they cost nothing: the many
objects that schedulers and the bridge write have no recorded owners. The rules are those of
sigs.k8s.io/structured-merge-diff.
"""
