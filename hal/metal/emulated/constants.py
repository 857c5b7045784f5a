"""Metal's enumerations, as PyObjC spells them: one module attribute per case.

Values are those of Apple's public headers (MTLResource.h, MTLCommandBuffer.h ...). Names of
enumerations are types of integers, so that MTLResourceOptions(0) may be written.
"""

from typing import NewType

from .texture_constants import *  # noqa: F403  those of textures are a table of their own

# MTLCPUCacheMode, MTLStorageMode, MTLHazardTrackingMode and MTLResourceOptions made of them.
MTLCPUCacheModeDefaultCache = 0
MTLCPUCacheModeWriteCombined = 1
MTLStorageModeShared = 0
MTLStorageModeManaged = 1
MTLStorageModePrivate = 2
MTLStorageModeMemoryless = 3
MTLHazardTrackingModeDefault = 0
MTLHazardTrackingModeUntracked = 1
MTLHazardTrackingModeTracked = 2
MTLResourceCPUCacheModeDefaultCache = 0
MTLResourceCPUCacheModeWriteCombined = 1
MTLResourceStorageModeShared = 0
MTLResourceStorageModeManaged = 1 << 4
MTLResourceStorageModePrivate = 2 << 4
MTLResourceStorageModeMemoryless = 3 << 4
MTLResourceHazardTrackingModeDefault = 0
MTLResourceHazardTrackingModeUntracked = 1 << 8
MTLResourceHazardTrackingModeTracked = 2 << 8

# MTLPurgeableState
MTLPurgeableStateKeepCurrent = 1
MTLPurgeableStateNonVolatile = 2
MTLPurgeableStateVolatile = 3
MTLPurgeableStateEmpty = 4

# MTLCommandBufferStatus
MTLCommandBufferStatusNotEnqueued = 0
MTLCommandBufferStatusEnqueued = 1
MTLCommandBufferStatusCommitted = 2
MTLCommandBufferStatusScheduled = 3
MTLCommandBufferStatusCompleted = 4
MTLCommandBufferStatusError = 5

# MTLCommandBufferError
MTLCommandBufferErrorNone = 0
MTLCommandBufferErrorInternal = 1
MTLCommandBufferErrorTimeout = 2
MTLCommandBufferErrorPageFault = 3
MTLCommandBufferErrorAccessRevoked = 4
MTLCommandBufferErrorNotPermitted = 7
MTLCommandBufferErrorOutOfMemory = 8
MTLCommandBufferErrorInvalidResource = 9
MTLCommandBufferErrorMemoryless = 10
MTLCommandBufferErrorDeviceRemoved = 11
MTLCommandBufferErrorStackOverflow = 12
MTLCommandBufferErrorOptionNone = 0
MTLCommandBufferErrorOptionEncoderExecutionStatus = 1

# MTLDispatchType, MTLResourceUsage, MTLBarrierScope, MTLBlitOption
MTLDispatchTypeSerial = 0
MTLDispatchTypeConcurrent = 1
MTLResourceUsageRead = 1
MTLResourceUsageWrite = 2
MTLResourceUsageSample = 4
MTLBarrierScopeBuffers = 1
MTLBarrierScopeTextures = 2
MTLBarrierScopeRenderTargets = 4
MTLBlitOptionNone = 0

# MTLBinaryArchiveError
MTLBinaryArchiveErrorNone = 0
MTLBinaryArchiveErrorInvalidFile = 1
MTLBinaryArchiveErrorUnexpectedElement = 2
MTLBinaryArchiveErrorCompilationFailure = 3
MTLBinaryArchiveErrorInternalError = 4

# MTLIndirectCommandType
MTLIndirectCommandTypeDraw = 1 << 0
MTLIndirectCommandTypeDrawIndexed = 1 << 1
MTLIndirectCommandTypeDrawPatches = 1 << 2
MTLIndirectCommandTypeDrawIndexedPatches = 1 << 3
MTLIndirectCommandTypeConcurrentDispatch = 1 << 5
MTLIndirectCommandTypeConcurrentDispatchThreads = 1 << 6

# MTLHeapType, MTLArgumentBuffersTier
MTLHeapTypeAutomatic = 0
MTLHeapTypePlacement = 1
MTLHeapTypeSparse = 2
MTLArgumentBuffersTier1 = 0
MTLArgumentBuffersTier2 = 1

# MTLFunctionType, MTLFunctionOptions, MTLPipelineOption, MTLMutability
MTLFunctionTypeVertex = 1
MTLFunctionTypeFragment = 2
MTLFunctionTypeKernel = 3
MTLFunctionTypeVisible = 5
MTLFunctionOptionNone = 0
MTLFunctionOptionCompileToBinary = 1
MTLPipelineOptionNone = 0
MTLPipelineOptionArgumentInfo = 1
MTLPipelineOptionBindingInfo = 1
MTLPipelineOptionBufferTypeInfo = 2
MTLPipelineOptionFailOnBinaryArchiveMiss = 4
MTLMutabilityDefault = 0
MTLMutabilityMutable = 1
MTLMutabilityImmutable = 2

# MTLTensorDataType and MTLTensorUsage
MTLTensorDataTypeNone = 0
MTLTensorDataTypeFloat32 = 3
MTLTensorDataTypeFloat16 = 16
MTLTensorDataTypeInt32 = 29
MTLTensorDataTypeUInt32 = 33
MTLTensorDataTypeInt16 = 37
MTLTensorDataTypeUInt16 = 41
MTLTensorDataTypeInt8 = 45
MTLTensorDataTypeUInt8 = 49
MTLTensorDataTypeBFloat16 = 121
MTLTensorUsageCompute = 1
MTLTensorUsageRender = 1 << 1
MTLTensorUsageMachineLearning = 1 << 2

# MTLStages of compute encoders and MTL4VisibilityOptions
MTLStageResourceState = 1 << 26
MTLStageDispatch = 1 << 27
MTLStageBlit = 1 << 28
MTLStageAccelerationStructure = 1 << 29
MTLStageMachineLearning = 1 << 30
MTLStageAll = (1 << 63) - 1
MTL4VisibilityOptionNone = 0
MTL4VisibilityOptionDevice = 1
MTL4VisibilityOptionResourceAlias = 2

# MTLBindingType, MTLBindingAccess and their older names
MTLBindingTypeBuffer = 0
MTLBindingTypeThreadgroupMemory = 1
MTLBindingTypeTexture = 2
MTLBindingTypeSampler = 3
MTLBindingTypeVisibleFunctionTable = 24
MTLBindingTypeTensor = 37
MTLArgumentTypeBuffer = 0
MTLArgumentTypeThreadgroupMemory = 1
MTLArgumentTypeTexture = 2
MTLArgumentTypeSampler = 3
MTLBindingAccessReadOnly = 0
MTLBindingAccessReadWrite = 1
MTLBindingAccessWriteOnly = 2
MTLArgumentAccessReadOnly = 0
MTLArgumentAccessReadWrite = 1
MTLArgumentAccessWriteOnly = 2

# MTLLibraryError, MTLLibraryType, MTLLibraryOptimizationLevel, MTLMathMode
MTLLibraryErrorUnsupported = 1
MTLLibraryErrorInternal = 2
MTLLibraryErrorCompileFailure = 3
MTLLibraryErrorCompileWarning = 4
MTLLibraryErrorFunctionNotFound = 5
MTLLibraryErrorFileNotFound = 6
MTLLibraryTypeExecutable = 0
MTLLibraryTypeDynamic = 1
MTLLibraryOptimizationLevelDefault = 0
MTLLibraryOptimizationLevelSize = 1
MTLMathModeSafe = 0
MTLMathModeRelaxed = 1
MTLMathModeFast = 2
MTLMathFloatingPointFunctionsFast = 0
MTLMathFloatingPointFunctionsPrecise = 1

# MTLLanguageVersion: the major version in the upper half, the minor in the lower.
MTLLanguageVersion1_1 = (1 << 16) + 1
MTLLanguageVersion1_2 = (1 << 16) + 2
MTLLanguageVersion2_0 = 2 << 16
MTLLanguageVersion2_1 = (2 << 16) + 1
MTLLanguageVersion2_2 = (2 << 16) + 2
MTLLanguageVersion2_3 = (2 << 16) + 3
MTLLanguageVersion2_4 = (2 << 16) + 4
MTLLanguageVersion3_0 = 3 << 16
MTLLanguageVersion3_1 = (3 << 16) + 1
MTLLanguageVersion3_2 = (3 << 16) + 2

# MTLGPUFamily
MTLGPUFamilyApple1 = 1001
MTLGPUFamilyApple2 = 1002
MTLGPUFamilyApple3 = 1003
MTLGPUFamilyApple4 = 1004
MTLGPUFamilyApple5 = 1005
MTLGPUFamilyApple6 = 1006
MTLGPUFamilyApple7 = 1007
MTLGPUFamilyApple8 = 1008
MTLGPUFamilyApple9 = 1009
MTLGPUFamilyApple10 = 1010
MTLGPUFamilyMac1 = 2001
MTLGPUFamilyMac2 = 2002
MTLGPUFamilyCommon1 = 3001
MTLGPUFamilyCommon2 = 3002
MTLGPUFamilyCommon3 = 3003
MTLGPUFamilyMetal3 = 5001
MTLGPUFamilyMetal4 = 5002

# MTLLogLevel
MTLLogLevelUndefined = 0
MTLLogLevelDebug = 1
MTLLogLevelInfo = 2
MTLLogLevelNotice = 3
MTLLogLevelError = 4
MTLLogLevelFault = 5

# MTLDeviceLocation
MTLDeviceLocationBuiltIn = 0

# MTLDataType, as far as function constants and argument buffers of compute programs use it.
MTLDataTypeNone = 0
MTLDataTypeStruct = 1
MTLDataTypeArray = 2
MTLDataTypeFloat = 3
MTLDataTypeFloat2 = 4
MTLDataTypeFloat3 = 5
MTLDataTypeFloat4 = 6
MTLDataTypeHalf = 16
MTLDataTypeHalf2 = 17
MTLDataTypeHalf3 = 18
MTLDataTypeHalf4 = 19
MTLDataTypeInt = 29
MTLDataTypeInt2 = 30
MTLDataTypeInt3 = 31
MTLDataTypeInt4 = 32
MTLDataTypeUInt = 33
MTLDataTypeUInt2 = 34
MTLDataTypeUInt3 = 35
MTLDataTypeUInt4 = 36
MTLDataTypeShort = 37
MTLDataTypeShort2 = 38
MTLDataTypeShort3 = 39
MTLDataTypeShort4 = 40
MTLDataTypeUShort = 41
MTLDataTypeUShort2 = 42
MTLDataTypeUShort3 = 43
MTLDataTypeUShort4 = 44
MTLDataTypeChar = 45
MTLDataTypeChar2 = 46
MTLDataTypeChar3 = 47
MTLDataTypeChar4 = 48
MTLDataTypeUChar = 49
MTLDataTypeUChar2 = 50
MTLDataTypeUChar3 = 51
MTLDataTypeUChar4 = 52
MTLDataTypeBool = 53
MTLDataTypeBool2 = 54
MTLDataTypeBool3 = 55
MTLDataTypeBool4 = 56
MTLDataTypeTexture = 58
MTLDataTypeSampler = 59
MTLDataTypePointer = 60
MTLDataTypeLong = 81
MTLDataTypeLong2 = 82
MTLDataTypeLong3 = 83
MTLDataTypeLong4 = 84
MTLDataTypeULong = 85
MTLDataTypeULong2 = 86
MTLDataTypeULong3 = 87
MTLDataTypeULong4 = 88
MTLDataTypeBFloat = 121
MTLDataTypeBFloat2 = 122
MTLDataTypeBFloat3 = 123
MTLDataTypeBFloat4 = 124

MTLArgumentAccess = NewType("MTLArgumentAccess", int)
MTLArgumentBuffersTier = NewType("MTLArgumentBuffersTier", int)
MTLArgumentType = NewType("MTLArgumentType", int)
MTLBarrierScope = NewType("MTLBarrierScope", int)
MTLBindingAccess = NewType("MTLBindingAccess", int)
MTLBindingType = NewType("MTLBindingType", int)
MTLBlitOption = NewType("MTLBlitOption", int)
MTLCPUCacheMode = NewType("MTLCPUCacheMode", int)
MTLCommandBufferErrorOption = NewType("MTLCommandBufferErrorOption", int)
MTLCommandBufferStatus = NewType("MTLCommandBufferStatus", int)
MTLDataType = NewType("MTLDataType", int)
MTLDispatchType = NewType("MTLDispatchType", int)
MTLFunctionOptions = NewType("MTLFunctionOptions", int)
MTLFunctionType = NewType("MTLFunctionType", int)
MTLGPUFamily = NewType("MTLGPUFamily", int)
MTLHazardTrackingMode = NewType("MTLHazardTrackingMode", int)
MTLHeapType = NewType("MTLHeapType", int)
MTLIndirectCommandType = NewType("MTLIndirectCommandType", int)
MTLLanguageVersion = NewType("MTLLanguageVersion", int)
MTLLibraryOptimizationLevel = NewType("MTLLibraryOptimizationLevel", int)
MTLLibraryType = NewType("MTLLibraryType", int)
MTLLogLevel = NewType("MTLLogLevel", int)
MTLMathMode = NewType("MTLMathMode", int)
MTLPipelineOption = NewType("MTLPipelineOption", int)
MTLPurgeableState = NewType("MTLPurgeableState", int)
MTLResourceOptions = NewType("MTLResourceOptions", int)
MTLResourceUsage = NewType("MTLResourceUsage", int)
MTLStorageMode = NewType("MTLStorageMode", int)
