// Handles that are alive, so that a destroyed or invented one is told and not followed.
#pragma once
#include <mutex>
#include <set>

namespace ks {

template <class T> class Handles {
  public:
    T *add(T *handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        alive_.insert(handle);
        return handle;
    }
    bool contains(const T *handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return alive_.count(const_cast<T *>(handle)) != 0;
    }
    bool remove(T *handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return alive_.erase(handle) != 0;
    }
    template <class F> void for_each(F visit) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (T *handle : alive_) {
            visit(handle);
        }
    }

  private:
    std::mutex mutex_;
    std::set<T *> alive_;
};

} // namespace ks
