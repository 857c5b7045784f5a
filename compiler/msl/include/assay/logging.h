// os_log: kept so that programs compile; messages go nowhere.
#pragma once
#include "base.h"

namespace metal {
enum log_type { log_type_debug, log_type_info, log_type_default, log_type_error, log_type_fault };
struct os_log {
  __ASSAY_MEMBER constexpr os_log(const char*, const char*) {}
#define __ASSAY_LOG(name)                                                                         \
  template <class... A> __ASSAY_MEMBER void name(const char*, const A&...) const {}
  __ASSAY_LOG(log)
  __ASSAY_LOG(log_debug)
  __ASSAY_LOG(log_info)
  __ASSAY_LOG(log_error)
  __ASSAY_LOG(log_fault)
#undef __ASSAY_LOG
  template <class... A>
  __ASSAY_MEMBER void log_with_type(log_type, const char*, const A&...) const {}
};
static constexpr os_log os_log_default{"", ""};
}  // namespace metal
