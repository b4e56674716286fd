"""The symbols of a shared object, as its ELF header has them."""

import struct

_DT_STRTAB, _DT_SYMTAB = 5, 6
_PT_DYNAMIC = 2


def dynamic_symbols(image: bytes) -> dict[str, int]:
    """Return the offsets of the symbols of a shared object whose addresses are offsets into ``image``, as in a vDSO."""
    (headers,) = struct.unpack_from("<Q", image, 32)
    (count,) = struct.unpack_from("<H", image, 56)
    tables: dict[int, int] = {}
    for at in range(headers, headers + 56 * count, 56):
        kind, _, offset = struct.unpack_from("<IIQ", image, at)
        if kind == _PT_DYNAMIC:
            while (entry := struct.unpack_from("<qQ", image, offset))[0]:
                tables[entry[0]] = entry[1]
                offset += 16
    # The tables of a vDSO follow one another: the symbols end where their names begin.
    names = tables[_DT_STRTAB]
    symbols = {}
    for at in range(tables[_DT_SYMTAB], names - 23, 24):
        name, _, _, _, value = struct.unpack_from("<IBBHQ", image, at)
        symbols[image[names + name : image.index(b"\0", names + name)].decode()] = value
    return symbols
