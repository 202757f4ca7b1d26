// Compilation at run time. Programs may name its types; each call is a compile error that says that it is not there.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime_api.h>

typedef struct ks_hiprtcProgram *hiprtcProgram;
typedef struct ks_hiprtcLinkState *hiprtcLinkState;

enum hiprtcResult {
    HIPRTC_SUCCESS = 0,
    HIPRTC_ERROR_OUT_OF_MEMORY = 1,
    HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    HIPRTC_ERROR_INVALID_INPUT = 3,
    HIPRTC_ERROR_INVALID_PROGRAM = 4,
    HIPRTC_ERROR_INVALID_OPTION = 5,
    HIPRTC_ERROR_COMPILATION = 6,
    HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    HIPRTC_ERROR_INTERNAL_ERROR = 11,
    HIPRTC_ERROR_LINKING = 100,
};

#define KS_REFUSE_HIPRTC(name)                                                                                         \
    template <class R = hiprtcResult, class... A> KS_REFUSED_TEXT("compilation at run time (hiprtc)") R name(A &&...);
KS_REFUSE_HIPRTC(hiprtcAddNameExpression)
KS_REFUSE_HIPRTC(hiprtcCompileProgram)
KS_REFUSE_HIPRTC(hiprtcCreateProgram)
KS_REFUSE_HIPRTC(hiprtcDestroyProgram)
KS_REFUSE_HIPRTC(hiprtcGetBitcode)
KS_REFUSE_HIPRTC(hiprtcGetBitcodeSize)
KS_REFUSE_HIPRTC(hiprtcGetCode)
KS_REFUSE_HIPRTC(hiprtcGetCodeSize)
KS_REFUSE_HIPRTC(hiprtcGetErrorString)
KS_REFUSE_HIPRTC(hiprtcGetLoweredName)
KS_REFUSE_HIPRTC(hiprtcGetProgramLog)
KS_REFUSE_HIPRTC(hiprtcGetProgramLogSize)
KS_REFUSE_HIPRTC(hiprtcLinkAddData)
KS_REFUSE_HIPRTC(hiprtcLinkAddFile)
KS_REFUSE_HIPRTC(hiprtcLinkComplete)
KS_REFUSE_HIPRTC(hiprtcLinkCreate)
KS_REFUSE_HIPRTC(hiprtcLinkDestroy)
KS_REFUSE_HIPRTC(hiprtcVersion)
#undef KS_REFUSE_HIPRTC
