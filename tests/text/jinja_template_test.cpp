#include "heed/text/jinja_template.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace heed::text {
namespace {

using nlohmann::ordered_json;

std::string render(const std::string& source,
                   const ordered_json& variables = ordered_json::object(),
                   const JinjaLimits& limits = {}) {
  return JinjaTemplate::parse(source, "t").render(variables, 0, limits);
}

const ordered_json& messages() {
  static const ordered_json json = ordered_json::parse(R"({"messages": [
    {"role": "user", "content": " hi "}, {"role": "assistant", "content": "yo"},
    {"role": "user", "content": "bye"}]})");
  return json;
}

void expect_refused(const std::string& source, const std::string& message) {
  expect_error(ErrorKind::model, "t:" + message, [&] { render(source); });
}

TEST(JinjaTemplate, RemovesTheLineEndAfterATagAndSpacesBeforeIt) {
  EXPECT_EQ(render("a\n  {% if true %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(render("a \n {{- 'b' -}} \n c"), "abc");
  EXPECT_EQ(render("a\n  {%+ if true %}b{% endif +%}\nc"), "a\n  b\nc");
  EXPECT_EQ(render("  {{ 'a' }}\n{# gone #}\nb{{ '\\n' }}\n\n"), "  a\nb\n\n");
  EXPECT_EQ(render("{% raw %}{{ x }}{% if %}{% endraw %}"), "{{ x }}{% if %}");
}

TEST(JinjaTemplate, LoopsOverMessages) {
  EXPECT_EQ(render("{% for m in messages %}{{ loop.index }}{{ m.role }}:{{ m['content']|trim }}"
                   "{% if not loop.last %}, {% endif %}{% endfor %}",
                   messages()),
            "1user:hi, 2assistant:yo, 3user:bye");
  EXPECT_EQ(render("{% for m in messages[::-1] if m.role == 'user' %}{{ m.content }}|{% else %}-"
                   "{% endfor %}{% for x in [] %}{% else %}none{% endfor %}",
                   messages()),
            "bye| hi |none");
  EXPECT_EQ(render("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}"
                   "{% if i > 3 %}{% break %}{% endif %}{{ i }}{% endfor %}"),
            "023");
}

TEST(JinjaTemplate, KeepsAVariableInItsLoopAndANamespaceBeyondIt) {
  EXPECT_EQ(render("{% set a = 1 %}{% set ns = namespace(a=1) %}{% for i in range(3) %}"
                   "{% set a = i %}{% set ns.a = ns.a + i %}{% endfor %}{{ a }} {{ ns.a }}"),
            "1 4");
  EXPECT_EQ(render("{% if true %}{% set a = 2 %}{% endif %}{{ a }}"), "2");
}

TEST(JinjaTemplate, CallsMacrosWithDefaultsAndNames) {
  EXPECT_EQ(render("{% macro m(a, b=a ~ '!') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}"
                   "{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}{% set c = 5 %}{{ m(6)|upper }}"),
            "[11!][12][43][66!5]");
  EXPECT_EQ(render("{% macro down(n) %}{% if n %}{{ n }}{{ down(n - 1) }}{% endif %}{% endmacro %}"
                   "{{ down(4) }}"),
            "4321");
}

TEST(JinjaTemplate, PrintsValuesAsPythonDoes) {
  EXPECT_EQ(
      render("{{ [true, none, 1.0, 1e22, 'it\\'s', {'a': (1,)}] }} {{ 7 // -2 }} {{ 7 / 2 }}"),
      "[True, None, 1.0, 1e+22, \"it's\", {'a': (1,)}] -4 3.5");
  EXPECT_EQ(
      render("{{ d|tojson }} {{ d|tojson(indent=2) }}",
             {{"d", {{"b", "ü\n"}, {"a", {1, nullptr}}}}}),
      "{\"b\": \"ü\\n\", \"a\": [1, null]} {\n  \"b\": \"ü\\n\",\n  \"a\": [\n    1,\n    null\n"
      "  ]\n}");
}

TEST(JinjaTemplate, LetsAnUndefinedValueBePrintedAndTestedButNotUsed) {
  EXPECT_EQ(render("{{ x }}{{ x is defined }}{{ x|default('d') }}{{ 'y' if x else 'n' }}"),
            "Falsedn");
  expect_refused("\n{{ x.y }}", "2: expected a value, found nothing: `x` is undefined");
  expect_refused("{{ x() }}", "1: expected a function, found nothing: `x` is undefined");
}

// Templates with what Jinja2 3.1 makes of them in the sandbox of transformers, or null where it
// refuses them.
TEST(JinjaTemplate, RendersWhatJinja2Renders) {
  std::ifstream file(std::string(golden_folder) + "/jinja_templates.json");
  const ordered_json golden = ordered_json::parse(file);
  ASSERT_GT(golden.at("cases").size(), 100u);
  for (const ordered_json& one : golden.at("cases")) {
    const auto source = one.at("template").get<std::string>();
    SCOPED_TRACE(source);
    const ordered_json& variables =
        golden.at("variables").at(one.at("variables").get<std::size_t>());
    if (one.at("text").is_null()) {
      EXPECT_THROW(render(source, variables), Error);
    } else {
      EXPECT_EQ(render(source, variables), one.at("text").get<std::string>());
    }
  }
}

TEST(JinjaTemplate, RefusesWhatItDoesNotKnowWhenItIsRead) {
  const auto refuses = [](const std::string& source, const std::string& message) {
    expect_error(ErrorKind::model, "t:" + message, [&] { JinjaTemplate::parse(source, "t"); });
  };
  refuses("{% if false %}\n{% include 'x' %}{% endif %}",
          "2: the statement include is not supported");
  refuses("{% call f() %}{% endcall %}", "1: the statement call is not supported");
  refuses("{{ a|groupby('b') }}", "1: the filter groupby is not supported");
  refuses("{{ a|map('groupby') }}", "1: the filter groupby is not supported");
  refuses("{{ a is filter }}", "1: the test filter is not supported");
  refuses("{{ a.append(1) }}", "1: the method append is not supported");
  refuses("{{ f(*a) }}", "1: * and ** before arguments are not supported");
  refuses("{% for a in b recursive %}{% endfor %}", "1: a recursive loop is not supported");
  refuses("{{ lipsum() }}", "1: the function lipsum is not supported");
  refuses("{% macro f() %}{{ varargs }}{% endmacro %}", "1: `varargs` in a macro is not supported");
  refuses("{{ (a|safe) + 'b' }}", "1: the filter safe is supported only at the end of {{ ... }}");
}

TEST(JinjaTemplate, RefusesBrokenTemplates) {
  expect_refused("a\n{% if x %}", "2: expected {% endif %}, found the end of the template");
  expect_refused("{{ 'a }}", "1: expected the end of a string, found the end of the template");
  expect_refused("{{ a b }}", "1: expected }}, found b");
  expect_refused("{% endif %}", "1: found {% endif %} without its beginning");
  expect_refused("{% break %}", "1: found break or continue outside of a loop");
  expect_refused("{{ (1] }}", "1: found ] without its beginning");
  expect_refused("{# a", "1: expected #}, found the end of the template");
}

TEST(JinjaTemplate, TellsWhatTheTemplateItselfRefuses) {
  expect_error(ErrorKind::data, "t:2: the template refuses the messages: no 3",
               [] { render("\n{{ raise_exception('no ' ~ 3) }}"); });
}

TEST(JinjaTemplate, ShowsTheGivenTime) {
  constexpr std::time_t noon = 1700049600;
  const auto jinja = JinjaTemplate::parse("{{ strftime_now('%Y %b') }}", "t");
  EXPECT_EQ(jinja.render(ordered_json::object(), noon), "2023 Nov");
}

TEST(JinjaTemplate, BoundsTheWorkOfHostileTemplates) {
  const std::vector<std::string> sources = {
      "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
      "{% set ns = namespace(s='abcdefgh') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}"
      "{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}"
      "{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(999) %}{% set ns.l = [ns.l] %}{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}"
      "{% endfor %}{{ ns.l }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{{ 'a' * 9999999999 }}",
      "{{ '' * 9999999999 }}{{ [1] * 9999999999 }}",
      "{{ 'aaaa'|replace('', 'x' * 30000000) }}",
      "{{ range(1000000)|list }}",
      "{{ 9 ** 9 ** 9 }}",
      "{% set ns = namespace() %}{% set ns.ns = ns %}",
      "{{ " + std::string(500, '(') + "1" + std::string(500, ')') + " }}",
      "{{ 1" +
          [] {
            std::string sum;
            for (int i = 0; i < 5000; ++i) sum += "+1";
            return sum;
          }() +
          " }}",
  };
  for (const std::string& source : sources) {
    SCOPED_TRACE(source.substr(0, 200));
    EXPECT_THROW(render(source, ordered_json::object(), {.max_work = 2'000'000}), Error);
  }
}

}  // namespace
}  // namespace heed::text
