"""Custom resources: kinds that a CustomResourceDefinition adds to a running server.

`definitions` makes resources of definitions, `schema` validates objects by their OpenAPI schema, `strategy` has the
rules that all custom resources share, `scale` their scale subresource.
"""
