"""Batsim 5's protocol, batprotocol, translated from and to the messages of protocol 4 (batkube.batsim.messages).

https://batsim.readthedocs.io/en/latest/protocol.html, https://batprotocol.readthedocs.io
"""
