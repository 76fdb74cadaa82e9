#include "heed/explore/word_routes.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "heed/base/error.h"

namespace heed::explore {
namespace {

using Json = nlohmann::json;

// Products of numbers up to here stay far from the largest float.
constexpr double max_coordinate = 1e6;

const Json& list_at(const Json& object, const std::string& name, Index min, Index max) {
  const auto list = object.find(name);
  check_as(ErrorKind::data, list != object.end() && list->is_array(), name,
           ": expected a list, found ", list == object.end() ? "none" : list->type_name());
  const auto size = static_cast<Index>(list->size());
  check_as(ErrorKind::data, size >= min && size <= max, name, ": expected ", min, " to ", max,
           " entries, found ", size);
  return *list;
}

float number_of(const Json& json, const std::string& name) {
  check_as(ErrorKind::data, json.is_number(), name, ": expected a number, found ",
           json.type_name());
  const double number = json.get<double>();
  check_as(ErrorKind::data, std::abs(number) <= max_coordinate, name, ": expected at most ",
           max_coordinate, ", found ", json.dump());
  return static_cast<float>(number);
}

// A list of `rows` lists of `cols` numbers.
Tensor matrix_of(const Json& json, Index rows, Index cols, const std::string& name) {
  std::vector<float> values;
  bool is_right = json.is_array() && std::ssize(json) == rows;
  for (std::size_t i = 0; is_right && i < json.size(); ++i) {
    is_right = json[i].is_array() && std::ssize(json[i]) == cols;
    if (!is_right) break;
    for (const Json& number : json[i]) values.push_back(number_of(number, name));
  }
  check_as(ErrorKind::data, is_right, name, ": expected ", rows, " rows of ", cols, " numbers");
  return Tensor::from(values, {rows, cols});
}

Tensor vectors_of(const Json& words) {
  Json vectors = Json::array();
  for (const Json& word : words) {
    check_as(ErrorKind::data, word.is_object() && word.contains("vector"),
             "words: expected objects with a name and a vector");
    vectors.push_back(word["vector"]);
  }
  return matrix_of(vectors, std::ssize(words), 2, "words");
}

// Left out or null: the identity.
Tensor matrix_at(const Json& head, const std::string& name) {
  if (!head.contains(name) || head[name].is_null()) return Tensor::from({1, 0, 0, 1}, {2, 2});
  return matrix_of(head[name], 2, 2, name);
}

std::vector<PlaneHead> heads_of(const Json& json) {
  std::vector<PlaneHead> heads;
  for (const Json& head : list_at(json, "heads", 1, max_plane_heads)) {
    check_as(ErrorKind::data, head.is_object(), "heads: expected objects, found ",
             head.type_name());
    heads.push_back({matrix_at(head, "query"), matrix_at(head, "key"), matrix_at(head, "value")});
  }
  return heads;
}

ops::Similarity similarity_of(const Json& json) {
  const std::string name =
      json.contains("similarity") && json["similarity"].is_string() ? json["similarity"] : "none";
  return parse_choice<ops::Similarity>(name, "similarity", ErrorKind::data);
}

std::vector<bool> mask_of(const Json& json, Index words) {
  std::vector<bool> may_see;
  for (const Json& row : list_at(json, "mask", words, words)) {
    check_as(ErrorKind::data, row.is_array() && std::ssize(row) == words, "mask: expected ", words,
             " rows and columns");
    for (const Json& cell : row) {
      check_as(ErrorKind::data, cell.is_boolean(), "mask: expected true or false, found ",
               cell.type_name());
      may_see.push_back(cell.get<bool>());
    }
  }
  return may_see;
}

bool has(const Json& json, const char* name) {
  return json.contains(name) && !json[name].is_null();
}

// Lists within lists. JSON has no infinity: such cells become null.
Json lists_of(const float* values, const Shape& shape, int axis) {
  if (axis == shape.rank()) return std::isfinite(*values) ? Json(*values) : Json(nullptr);
  Index stride = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) stride *= shape.dim(i);
  Json list = Json::array();
  for (Index i = 0; i < shape.dim(axis); ++i) {
    list.push_back(lists_of(values + i * stride, shape, axis + 1));
  }
  return list;
}

Json lists_of(const Tensor& x) { return lists_of(x.data(), x.shape(), 0); }

Json to_json(const PlaneHeadSteps& head) {
  return {{"queries", lists_of(head.queries)},
          {"keys", lists_of(head.keys)},
          {"values", lists_of(head.values)},
          {"products", lists_of(head.products)},
          {"scale", head.scale},
          {"similarities", lists_of(head.similarities)},
          {"masked", lists_of(head.masked)},
          {"row_max", lists_of(head.row_max)},
          {"exps", lists_of(head.exps)},
          {"row_sums", lists_of(head.row_sums)},
          {"weights", lists_of(head.weights)},
          {"pulls", lists_of(head.pulls)},
          {"contexts", lists_of(head.contexts)}};
}

}  // namespace

WordPlane word_plane_from_json(const Json& json) {
  WordPlane plane;
  plane.words = vectors_of(list_at(json, "words", 1, max_plane_words));
  plane.similarity = similarity_of(json);
  plane.heads = heads_of(json);
  if (has(json, "output")) {
    plane.output = matrix_of(json["output"], 2 * std::ssize(plane.heads), 2, "output");
  }
  if (has(json, "mask")) plane.may_see = mask_of(json, plane.words.dim(0));
  return plane;
}

Json to_json(const PlaneAttention& attention) {
  Json heads = Json::array();
  for (const PlaneHeadSteps& head : attention.heads) heads.push_back(to_json(head));
  return {{"heads", std::move(heads)},
          {"concatenated", lists_of(attention.concatenated)},
          {"outputs", lists_of(attention.outputs)}};
}

void add_word_routes(serve::Router& router) {
  router.post("/api/words", [](const serve::Request& request) {
    return serve::json_response(to_json(attend_in_plane(word_plane_from_json(request.json()))));
  });
}

}  // namespace heed::explore
