"""Server-side apply: objects that several managers own field by field.

`fields` has sets of field paths and their form in managedFields, `types` says how each kind's lists and maps merge,
`merge` compares, merges and prunes objects by that, `managers` keeps the ownership, `kubectl` is about its way from
client-side apply. The verb is `verbs/apply.py`.

An object has managedFields from the first write on that names its field manager. Until then it costs nothing: no
ownership is worked out for the many objects that schedulers and the bridge write. The rules are those of
sigs.k8s.io/structured-merge-diff.
"""
