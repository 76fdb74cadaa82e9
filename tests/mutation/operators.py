"""Finds the mutants of a C++ file: small changes, each of which a test should notice.

The file is not parsed. It is formatted by clang-format, so ` < ` with spaces compares and `<` without
them is a template's bracket. What does not compile is no mutant, and the caller takes another one.
"""
import dataclasses
import re

# Code whose change no test can see, or is not meant to see.
UNTESTABLE = re.compile(r"\b(?:prefetch\w*|Prefetch\w*|reserve|static_assert|assert|HWY_\w+|shrink_to_fit|"
                        r"on_warning|noexcept|throw)\b")
DECLARATION = re.compile(r"^\s*(?:using|namespace|template|typedef|friend|extern|class|struct|enum|public:|private:)\b")

REPLACED = {
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "arithmetic": {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="},
    "bits": {"&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<", "|=": "&=", "&=": "|=", "^=": "|="},
    "logic": {"&&": "||", "||": "&&"},
}
RENAMED = {
    "std::min": "std::max", "std::max": "std::min", "hn::Min": "hn::Max", "hn::Max": "hn::Min",
    "hn::Add": "hn::Sub", "hn::Sub": "hn::Add", "hn::Mul": "hn::Add", "hn::Div": "hn::Mul",
    "hn::MulAdd": "hn::NegMulAdd", "hn::NegMulAdd": "hn::MulAdd", "hn::MulSub": "hn::MulAdd",
    "hn::Lt": "hn::Le", "hn::Le": "hn::Lt", "hn::Gt": "hn::Ge", "hn::Ge": "hn::Gt", "hn::Eq": "hn::Ne",
    "std::floor": "std::ceil", "std::ceil": "std::floor", "front": "back", "back": "front",
    "starts_with": "ends_with", "ends_with": "starts_with", "any_of": "all_of", "all_of": "any_of",
    "lower_bound": "upper_bound", "upper_bound": "lower_bound", "find": "rfind", "rfind": "find",
}
SYSTEM_CALL = re.compile(r"(?<!\w)::(?:fsync|fdatasync|rename|unlink|rmdir|flock|fchmod|fchown|fstat|ftruncate|mkdir|lseek)\(")
EXPRESSION = re.compile(r"(?:(?:::)?[A-Za-z_][\w:]*(?:<[^;()]*>)?(?:\(|\.|->|\[|\s(?:[-+*/|&^%]|<<|>>)?=\s)|\+\+|--|\*\w)")
NOT_CALLS = {"if", "for", "while", "switch", "return", "sizeof", "catch", "decltype", "alignas", "defined", "static_cast",
             "reinterpret_cast", "check", "check_as", "fail"}
COMMUTATIVE = {"std::min", "std::max"}
ORDERED_VECTORS = {"hn::Sub", "hn::Div", "hn::MulAdd", "hn::NegMulAdd"}  # others take a tag, or any order


@dataclasses.dataclass(frozen=True)
class Change:
    """Replaces file[start:end]."""
    start: int
    end: int
    text: str
    operator: str


def blank(code, start, end):
    """Spaces in place of code[start:end]; lines keep their numbers."""
    return code[:start] + re.sub(r"[^\n]", " ", code[start:end]) + code[end:]


def without_text(source):
    """The code without comments, preprocessor lines and the insides of literals; every character keeps its place."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                         r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)

    def hide(match):
        text = match.group()
        if text[0] in "\"'R":
            return '"' + re.sub(r"[^\n]", "_", text[1:-1]) + '"'
        return re.sub(r"[^\n]", " ", text)
    return pattern.sub(hide, source)


def closing(code, opening):
    """The place of the bracket that closes the one at `opening`; None if there is none."""
    depth = 0
    for at in range(opening, len(code)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return None


def arguments_of(code, opening):
    """Places (start, end) of the arguments between the bracket at `opening` and its other half."""
    end = closing(code, opening)
    if end is None:
        return []
    places, depth, start = [], 0, opening + 1
    for at in range(opening + 1, end):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if code[at] == "," and depth == 0:
            places.append((start, at))
            start = at + 1
    places.append((start, end))
    trimmed = []
    for start, end in places:
        text = code[start:end]
        start += len(text) - len(text.lstrip())
        trimmed.append((start, start + len(text.strip())))
    return trimmed


def testable(code):
    """The code without messages, declarations of names and UNTESTABLE lines."""
    for match in list(re.finditer(r"\b(check|check_as|fail)\(", code)):
        kept = {"check": 1, "check_as": 2, "fail": 0}[match.group(1)]
        places = arguments_of(code, match.end() - 1)
        if len(places) > kept:
            code = blank(code, places[kept][0], places[-1][1])
    for match in list(re.finditer(r"\b(?:static_assert|assert)\(", code)):
        code = blank(code, match.start(), (closing(code, match.end() - 1) or match.end()) + 1)
    at = 0
    for line in code.splitlines(keepends=True):
        if UNTESTABLE.search(line) or DECLARATION.match(line):
            code = blank(code, at, at + len(line.rstrip("\n")))
        at += len(line)
    return code


def statements(code):
    """Places (start, end) of simple statements with their semicolons, also inside lambdas."""
    is_block = re.compile(r"(?:\)|\belse|\bdo|\btry|\bconst|\bmutable|\boverride|\bHWY_ATTR|-> *[\w:<>&* ,]+)$")
    stack = [{"block": False, "parens": 0, "start": 0}]
    for at, symbol in enumerate(code):
        inner = stack[-1]
        if symbol in "([":
            inner["parens"] += 1
        elif symbol in ")]":
            inner["parens"] -= 1
        elif symbol == "{":
            before = code[max(0, at - 200):at].rstrip()
            stack.append({"block": bool(is_block.search(before)), "parens": 0, "start": at + 1})
        elif symbol == "}" and len(stack) > 1:
            stack.pop()
            if inner["block"]:
                stack[-1]["start"] = at + 1
        elif symbol == ";" and inner["parens"] == 0:
            if inner["block"]:
                yield inner["start"], at + 1
            inner["start"] = at + 1


def without_control(code, start, end):
    """The statement after `if (...)`, `else`, `for (...)` and labels."""
    while True:
        text = code[start:end]
        start += len(text) - len(text.lstrip())
        text = code[start:end]
        match = re.match(r"(?:if(?: constexpr)?|for|while|switch) \(|else\b|case [^:]+:(?!:)|default:", text)
        if not match:
            return start, end
        start += match.end()
        if match.group().endswith("("):
            start = (closing(code, start - 1) or end) + 1


def statement_changes(code):
    for start, end in statements(code):
        start, end = without_control(code, start, end)
        text = code[start:end]
        if not text or text.count("(") != text.count(")"):
            continue
        if re.match(r"return\b", text):
            value = text[len("return"):-1].strip()
            if value in ("true", "false"):
                yield Change(start, end, f"return {'false' if value == 'true' else 'true'};", "return value")
            elif value and not value.startswith("["):
                yield Change(start, end, "return {};", "return value")
        elif re.match(r"(?:check|check_as|fail)\(", text):
            yield Change(start, end, ";", "drop check")
        elif re.match(r"(?:break|continue);", text) or EXPRESSION.match(text):
            yield Change(start, end, ";", "delete statement")


def token_changes(code):
    for operator, table in REPLACED.items():
        symbols = "|".join(re.escape(symbol) for symbol in sorted(table, key=len, reverse=True))
        for match in re.finditer(rf"(?<=\s)(?:{symbols})(?=\s)", code):
            yield Change(match.start(), match.end(), table[match.group()], operator)
    for match in re.finditer(r"(?<![\w)\]])!(?=[\w(:])", code):
        yield Change(match.start(), match.end(), "", "negate")
    for match in re.finditer(r"(?<!return )\b(?:true|false)\b", code):
        yield Change(match.start(), match.end(), "false" if match.group() == "true" else "true", "constant")
    for match in re.finditer(r"(?<![\w.])(0|[1-9]\d*)(?![\w.'])", code):
        for value in {int(match.group()) + 1, max(int(match.group()) - 1, 0)} - {int(match.group())}:
            yield Change(match.start(), match.end(), str(value), "constant")
    for match in re.finditer(r"(?<![\w.])\d+\.?\d*(?:e[-+]?\d+)?f\b|(?<![\w.])\d+\.\d+\b", code):
        yield Change(match.start(), match.end(), f"({match.group()} + 1)", "constant")
    for match in re.finditer(r"(?<![\w:])(?:\+\+|--)(?=\w)", code):
        yield Change(match.start(), match.end(), "--" if match.group() == "++" else "++", "arithmetic")


def call_changes(code, source):
    for match in re.finditer(r"(?:\w+::)*(\w+)(?=\()", code):
        name = match.group()
        new = RENAMED.get(name) or RENAMED.get(match.group(1))
        if new and (name in RENAMED or code[match.start() - 1] in ".>"):
            yield Change(match.start(), match.end(), new, "call")
        places = arguments_of(code, match.end())
        texts = [code[start:end] for start, end in places]
        if match.group(1) in NOT_CALLS or name in COMMUTATIVE or (name.startswith("hn::") and name not in ORDERED_VECTORS):
            continue
        if any(re.match(r"const\s|.*[\w>&*]\s+[&*]*\w+$", text) for text in texts):  # parameters of a declaration
            continue
        for (first, second), (a, b) in zip(zip(places, places[1:]), zip(texts, texts[1:])):
            if a != b and a and b and '"' not in a + b and not (a + b).startswith("["):
                swapped = source[slice(*second)] + source[first[1]:second[0]] + source[slice(*first)]
                yield Change(first[0], second[1], swapped, "swap arguments")
    for match in SYSTEM_CALL.finditer(code):
        end = closing(code, match.end() - 1)
        if end:
            yield Change(match.start(), end + 1, "0", "system call")


def condition_changes(code, source):
    for match in re.finditer(r"\b(?:if(?: constexpr)?|while) \(", code):
        end = closing(code, match.end() - 1)
        text = code[match.end():end] if end else ""
        if text and ";" not in text and not re.search(r"\s=\s", text):
            yield Change(match.end(), end, f"!({source[match.end():end]})", "negate")


def changes(source):
    """All changes of a file, in the order of their places."""
    code = testable(without_text(source))
    found = set()
    for change in (*statement_changes(code), *token_changes(code), *call_changes(code, source),
                   *condition_changes(code, source)):
        # Lines keep their numbers, which assertions print.
        lost = source.count("\n", change.start, change.end) - change.text.count("\n")
        found.add(dataclasses.replace(change, text=change.text + "\n" * lost))
    return sorted(found, key=lambda change: (change.start, change.end, change.text))
