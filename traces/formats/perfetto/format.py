"""Numbers and words of our Perfetto files, which writer and readers share."""

ROOT = 1
"""The track that stands for the whole trace; the lanes of all others have the numbers behind it."""
SEQUENCE = 1
"""The sequence that all packets are on."""
DESCRIPTION = "Assay trace. For its reader: "
"""What the description of the root track begins with; facts as JSON follow."""
FLOW_SHIFT = 40
"""The number of a flow is the number of its kind shifted by this, plus its row, plus one."""
FLOW_ROW = (1 << FLOW_SHIFT) - 1

# Numbers of fields in perfetto/trace/perfetto_trace.proto, by message.
PACKET = 1  # Trace
TIMESTAMP, SEQUENCE_ID, TRACK_EVENT, SEQUENCE_FLAGS = 8, 10, 11, 13  # TracePacket
CATEGORY, ANNOTATION, TYPE, NAME, TRACK = 3, 4, 9, 10, 11  # TrackEvent
COUNTER_INTEGER, COUNTER_REAL, FLOW, FLOW_END = 30, 44, 47, 48
ANNOTATION_NAME, INTEGER, REAL, POINTER, TEXT = 1, 4, 5, 7, 17  # DebugAnnotation

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4  # TrackEvent.Type
NEEDS_STATE = 2  # TracePacket.SequenceFlags
EVENT_START = 0x40
"""The first byte of our packets of events: the key of their timestamp."""
