#!/usr/bin/env python3
"""Trains small models of many configurations and compares each with network_from_the_docs.py.

    network_from_the_docs_test.py HEED FOLDER

HEED is the program, FOLDER an empty or missing folder for data and models. Exits with 1 if a model differs.
"""
import os
import random
import subprocess
import sys

import network_from_the_docs

# Name: settings. The rate is high, so that gains, biases and queries leave their initial 1 and 0 far behind.
COMMON = "--width 24 --feed-forward 40 --heads 4 --after 12u --learning-rate 0.02 --warm-up 2 --seed 3 --threads 1"
TASKS = {
    "translation": ("--source translation.source --target translation.target --vocabulary 60 --encoder-layers 2 "
                    "--decoder-layers 2 --validation-bleu false", {
        "post_norm_sinusoidal_relu": "--norm after --positions sinusoidal --activation relu --key-value-heads 2",
        "pre_norm_rotary_swiglu": "--norm before --norm-kind rms --positions rotary --activation swiglu --tying target "
                                  "--key-value-heads 1",
        "pre_norm_alibi_gelu": "--norm before --positions alibi --activation gelu --tying none --heads 6",
        "post_norm_learned_cosine": "--norm after --norm-kind rms --positions learned "
                                    "--similarity cosine",
        "odd_width": "--norm before --positions sinusoidal --width 21 --heads 3",
    }),
    "language": ("--text language.text --vocabulary 60 --subwords bpe --decoder-layers 2 --max-positions 100", {
        "pre_norm_learned_gelu": "--norm before --positions learned --activation gelu",
        "post_norm_sinusoidal": "--norm after --positions sinusoidal --tying none",
        "pre_norm_rotary_swiglu": "--norm before --norm-kind rms --positions rotary --activation swiglu "
                                  "--key-value-heads 2",
        "pre_norm_alibi_dot": "--norm before --positions alibi --similarity dot --heads 3",
    }),
    "classifier": ("--labelled classifier.tsv --vocabulary 60 --encoder-layers 2", {
        "first": "--pooling first --norm after --positions learned",
        "mean": "--pooling mean --norm before --positions alibi",
        "attention": "--pooling attention --norm before --positions rotary",
        "no_positions": "--pooling attention --norm after --positions none",
    }),
    "tagger": ("--tagged tagger.conll --vocabulary 60 --encoder-layers 2", {
        "pre_norm_rotary": "--norm before --positions rotary",
        "post_norm_learned": "--norm after --positions learned",
    }),
    "masked": ("--masked masked.text --vocabulary 60 --encoder-layers 2", {
        "tied": "--norm before --positions sinusoidal",
        "untied": "--norm after --positions rotary --tying none",
    }),
}
NOUNS = {"cat": "Katze", "dog": "Hund", "bat": "Fledermaus", "mouse": "Maus", "owl": "Eule", "horse": "Pferd"}
VERBS = {"sees": "sieht", "finds": "findet", "hears": "hört", "follows": "verfolgt"}


def sentence(numbers):
    """English and German, of one to three clauses"""
    clauses = []
    for _ in range(numbers.randint(1, 3)):
        words = numbers.choice(list(NOUNS)), numbers.choice(list(VERBS)), numbers.choice(list(NOUNS))
        clauses.append((f"the {words[0]} {words[1]} a {words[2]}",
                        f"{NOUNS[words[0]]} {VERBS[words[1]]} {NOUNS[words[2]]}"))
    return " and ".join(clause[0] for clause in clauses), " und ".join(clause[1] for clause in clauses)


def write(name, lines):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def masked(line, numbers):
    words = line.split(" ")
    words[numbers.randrange(1, len(words))] = "<mask>"
    return " ".join(words)


def tagged(line):
    """A word and its tag on each line, and a blank one at the end."""
    tags = {**dict.fromkeys(NOUNS, "NOUN"), **dict.fromkeys(VERBS, "VERB")}
    return "".join(f"{word} {tags.get(word, 'OTHER')}\n" for word in line.split())


def write_data():
    numbers = random.Random(7)
    pairs = [sentence(numbers) for _ in range(400)]
    english = [pair[0] for pair in pairs]
    write("translation.source", english)
    write("translation.target", [pair[1] for pair in pairs])
    write("language.text", english)
    write("masked.text", english)
    write("classifier.tsv", [f"{line.split()[1]}\t{line}" for line in english])
    write("tagger.conll", map(tagged, english))
    test = [sentence(numbers) for _ in range(20)]
    write("translation.lines", ["\t".join(pair) for pair in test])
    write("masked.lines", [masked(pair[0], numbers) for pair in test])
    for task in "language", "classifier", "tagger":
        write(f"{task}.lines", [pair[0] for pair in test])


def merged(*settings):
    """Options and their values; the last of two equal options counts."""
    options = {}
    for words in map(str.split, settings):
        options.update(zip(words[0::2], words[1::2], strict=True))
    return [word for option in options.items() for word in option]


def main(program, folder):
    program = os.path.abspath(program)
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    write_data()
    code = 0
    for task, (files, models) in TASKS.items():
        for name, settings in models.items():
            model = f"{task}_{name}"
            subprocess.run([program, "train", "--model", model, "--overwrite", "--quiet",
                            *merged(COMMON, files, settings)], check=True, stdout=subprocess.DEVNULL)
            code |= network_from_the_docs.main(program, model, f"{task}.lines")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
