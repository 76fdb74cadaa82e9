// Work in a process of its own, for code that can neither be cancelled nor be trusted to return.
#pragma once

#include <functional>
#include <string>

namespace heed {

// The bytes that `work` returns in a child process, a fork of this one. What it throws is thrown
// here: an Error as it was, anything else as Error(failed), and so is a child that ends in any
// other way. When the cancellation scope cancels, or this process dies, the child is killed. The
// work must not use parallel_for, whose threads are not forked.
std::string run_in_child(const std::function<std::string()>& work);

}  // namespace heed
