#!/usr/bin/env python3
"""Verse pairs and word links, from two Bibles with Strong's numbers.

  bible_links.py ENGLISH.imp SPANISH.imp FOLDER

Reads the output of mod2imp. Writes train and test to FOLDER, each as .en, .es and .links: words separated by
white space, and for each verse `0-1` (sure) and, in the test set only, `0?1` (possible).

A phrase is what carries one number. If a number occurs once on each side, the last words of the two phrases
are a sure link (articles and prepositions come first in both languages), and the other words of the English
phrase are possible links to the last word of the Spanish one. If a number occurs several times on a side, the
pairing is unknown: all pairs of last words are possible links.
"""
import collections
import hashlib
import re
import sys

NUM_TEST = 500
MAX_WORDS = 80

TAG = re.compile(r"<(/?)(\w+)([^>]*?)(/?)>")
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
NUMBER = re.compile(r"strong:([HG]\d+)")
NOT_TEXT = {"note", "title"}


def verses(path):
    """Tagged text by verse name, such as `Genesis 1:1`."""
    found, name = {}, None
    for line in open(path, encoding="utf-8", errors="replace"):
        if line.startswith("$$$"):
            name = line[3:].strip()
        elif name and line.strip():
            found[name] = found.get(name, "") + line
    return {name: text for name, text in found.items() if re.fullmatch(r".* [1-9]\d*:[1-9]\d*", name)}


def parsed(text):
    """The words of a verse, in lower case, and its phrases: (number, first word, one past its last)."""
    words, phrases, open_words, hidden, at = [], [], [], 0, 0

    def take(piece):
        if not hidden:
            words.extend(WORD.findall(piece.replace("¶", " ").lower()))

    for tag in TAG.finditer(text):
        take(text[at:tag.start()])
        at = tag.end()
        is_end, name, attributes, is_empty = tag.groups()
        if name in NOT_TEXT and not is_empty:
            hidden += -1 if is_end else 1
        elif name == "w" and is_end and open_words:
            numbers, first = open_words.pop()
            phrases += [(number, first, len(words)) for number in numbers if first < len(words)]
        elif name == "w" and not is_empty:
            open_words.append((NUMBER.findall(attributes), len(words)))
    take(text[at:])
    return words, phrases


def by_number(words, phrases):
    """Phrases by number, without trailing punctuation."""
    found = collections.defaultdict(list)
    for number, first, last in phrases:
        while last > first and not words[last - 1][0].isalnum():
            last -= 1
        if last > first:
            found[number].append((first, last))
    return found


def links(english, spanish):
    """Sure and possible pairs (English word, Spanish word)."""
    sure, possible = set(), set()
    ours, theirs = by_number(*english), by_number(*spanish)
    for number in ours.keys() & theirs.keys():
        if len(ours[number]) == len(theirs[number]) == 1:
            (first, last), (_, spanish_last) = ours[number][0], theirs[number][0]
            sure.add((last - 1, spanish_last - 1))
            possible |= {(word, spanish_last - 1) for word in range(first, last - 1)}
        else:
            possible |= {(last - 1, spanish_last - 1)
                         for _, last in ours[number] for _, spanish_last in theirs[number]}
    return sure, possible - sure


def shown(pairs, mark):
    return [f"{source}{mark}{target}" for source, target in sorted(pairs)]


def main():
    english_path, spanish_path, folder = sys.argv[1:]
    english, spanish = verses(english_path), verses(spanish_path)
    names = [name for name in english if name in spanish]
    order = {name: place for place, name in enumerate(names)}
    by_hash = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    pairs = {name: (parsed(english[name]), parsed(spanish[name])) for name in names}
    usable = [name for name in by_hash if all(1 <= len(words) <= MAX_WORDS for words, _ in pairs[name])]
    test = set([name for name in usable if links(*pairs[name])[0]][:NUM_TEST])
    counts = collections.Counter()
    files = {(part, kind): open(f"{folder}/{part}.{kind}", "w", encoding="utf-8")
             for part in ("train", "test") for kind in ("en", "es", "links")}
    for name in sorted(usable, key=order.get):
        part = "test" if name in test else "train"
        sure, possible = links(*pairs[name])
        files[part, "en"].write(" ".join(pairs[name][0][0]) + "\n")
        files[part, "es"].write(" ".join(pairs[name][1][0]) + "\n")
        marks = shown(sure, "-") + (shown(possible, "?") if part == "test" else [])
        files[part, "links"].write(" ".join(marks) + "\n")
        counts[part, "verses"] += 1
        counts[part, "sure"] += len(sure)
        counts[part, "possible"] += len(possible)
    for part in ("train", "test"):
        print(f"{part}: {counts[part, 'verses']} verses, {counts[part, 'sure']} sure links, "
              f"{counts[part, 'possible']} possible ones")


if __name__ == "__main__":
    main()
