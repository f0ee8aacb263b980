"""Where requests to disks are seen one by one: the emulator's own log, and the kernel's block tracepoints."""
