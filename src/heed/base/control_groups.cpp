#include "heed/base/control_groups.h"

#include <fstream>
#include <sstream>
#include <string>

namespace heed {
namespace {

using Path = std::filesystem::path;

bool contains(const std::string& controllers, std::string_view name) {
  std::istringstream list(controllers);
  for (std::string controller; std::getline(list, controller, ',');) {
    if (controller == name) return true;
  }
  return false;
}

// A container may see its own group as the root, whatever the name of the group is outside. So the
// groups above are listed too, up to the root.
void append_with_parents(std::vector<ControlGroup>& groups, const Path& mount, const Path& group,
                         int version) {
  for (Path at = group.relative_path();; at = at.parent_path()) {
    groups.push_back({mount / at, version});
    if (at.empty()) return;
  }
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const Path& groups,
                                         const Path& root) {
  std::ifstream file(groups);
  std::vector<ControlGroup> list;
  // number:controllers:group, with no controllers for version 2
  for (std::string number, controllers, group; std::getline(file, number, ':') &&
                                               std::getline(file, controllers, ':') &&
                                               std::getline(file, group);) {
    const Path path = Path(group).lexically_normal();
    if (controllers.empty()) append_with_parents(list, root, path, 2);
    if (!contains(controllers, controller)) continue;
    append_with_parents(list, root / controllers, path, 1);
    if (controllers != controller) append_with_parents(list, root / controller, path, 1);
  }
  return list;
}

}  // namespace heed
