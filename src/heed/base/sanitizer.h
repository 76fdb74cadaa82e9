// Is this a build with the address sanitizer? GCC defines a macro, Clang answers a question.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define HEED_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEED_ADDRESS_SANITIZER 1
#endif
#endif

#ifndef HEED_ADDRESS_SANITIZER
#define HEED_ADDRESS_SANITIZER 0
#endif
