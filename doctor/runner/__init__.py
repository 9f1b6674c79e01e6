"""`npu-doctor run -- CMD`: the command as it is, and a diagnosis after it when it fails."""
