"""Admission: the plugins that change and refuse writes beside the rules of the kinds, one in each module.

`plugins.py` has the table, `chain.py` calls the plugins that are at work.
"""
