"""The TOSA dialect as imported: reading its operators, what the NPU's compiler takes, meaning."""
