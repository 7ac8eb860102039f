"""Writes small BGEN and PLINK files byte by byte, from the formats' definitions.

Nothing here knows how the program under test reads or writes such files.
"""

import struct
import zlib


def _text16(text):
    data = text.encode()
    return struct.pack("<H", len(data)) + data


def _pack_values(values, bits):
    number = 0
    for i, value in enumerate(values):
        number |= value << (i * bits)
    return number.to_bytes((len(values) * bits + 7) // 8, "little")


class Variant:
    """One variant. `calls[i]` is None (missing) or a tuple of stored numerators:
    unphased diploid (P two first alleles, P one), phased (hap 1, hap 2), haploid (p,).
    """

    def __init__(self, chrom, pos, name, alleles, calls, bits=8, phased=False, ploidy=None):
        self.chrom, self.pos, self.name, self.alleles = chrom, pos, name, alleles
        self.calls, self.bits, self.phased = calls, bits, phased
        self.ploidy = ploidy or [2 if c is None else max(1, len(c)) for c in calls]
        if ploidy is None:
            # An unphased diploid call of a biallelic variant stores two numbers, a haploid
            # one stores one.
            self.ploidy = [2 if c is None or len(c) == 2 else 1 for c in calls]

    def payload(self):
        n = len(self.calls)
        flags = bytes(p | (0x80 if c is None else 0) for p, c in zip(self.ploidy, self.calls))
        values = []
        for ploidy, call in zip(self.ploidy, self.calls):
            width = self.width(ploidy)
            values += list(call) if call is not None else [0] * width
        head = struct.pack("<IHBB", n, len(self.alleles), min(self.ploidy), max(self.ploidy))
        return head + flags + bytes([1 if self.phased else 0, self.bits]) + _pack_values(
            values, self.bits)

    def width(self, ploidy):
        k = len(self.alleles)
        if self.phased:
            return ploidy * (k - 1)
        # combinations with repetition of k alleles, ploidy times, less one
        total = 1
        for i in range(ploidy):
            total = total * (k + i) // (i + 1)
        return total - 1


def write_bgen(path, variants, num_people, compression="zlib", sample_ids=None):
    body = b""
    for v in variants:
        record = _text16(v.name) + _text16(v.name) + _text16(v.chrom)
        record += struct.pack("<IH", v.pos, len(v.alleles))
        for allele in v.alleles:
            data = allele.encode()
            record += struct.pack("<I", len(data)) + data
        payload = v.payload()
        if compression == "zlib":
            packed = zlib.compress(payload)
            record += struct.pack("<II", len(packed) + 4, len(payload)) + packed
        else:
            record += struct.pack("<I", len(payload)) + payload
        body += record
    flags = (1 if compression == "zlib" else 0) | (2 << 2)
    samples = b""
    if sample_ids:
        flags |= 1 << 31
        ids = b"".join(_text16(s) for s in sample_ids)
        samples = struct.pack("<II", len(ids) + 8, num_people) + ids
    header = struct.pack("<III", 20, len(variants), num_people) + b"bgen" + struct.pack("<I", flags)
    with open(path, "wb") as out:
        out.write(struct.pack("<I", len(header) + len(samples)) + header + samples + body)


def write_bed(prefix, people, variants):
    """`variants`: (chrom, id, pos, allele1, allele2, counts of allele 1 or None)."""
    with open(prefix + ".bed", "wb") as bed:
        bed.write(b"\x6c\x1b\x01")
        for *_, counts in variants:
            row = bytearray((len(counts) + 3) // 4)
            for i, count in enumerate(counts):
                code = {2: 0, None: 1, 1: 2, 0: 3}[count]
                row[i // 4] |= code << (2 * (i % 4))
            bed.write(bytes(row))
    with open(prefix + ".bim", "w") as bim:
        for chrom, name, pos, a1, a2, _ in variants:
            bim.write(f"{chrom}\t{name}\t0\t{pos}\t{a1}\t{a2}\n")
    with open(prefix + ".fam", "w") as fam:
        for fid, iid, sex in people:
            fam.write(f"{fid} {iid} 0 0 {sex} -9\n")
