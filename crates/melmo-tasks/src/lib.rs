//! What people do with melmo, from arrays to answers: no files, no printing.
