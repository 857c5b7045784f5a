"""Parts of the application that make and replay recordings of Metal devices."""
