//! Signals that end the program: they set a flag, the work unwinds, and the program ends by the
//! same signal.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use sylvan_io::Cancel;

/// Makes SIGINT, SIGTERM and SIGHUP set `cancel`, once or many times, and lets writes beyond the
/// limit of a file's size fail instead of killing the program.
pub fn catch(cancel: &Cancel) {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let number = usize::try_from(signal).unwrap_or_default();
        // Without a handler the signal ends the program at once, which is safe too.
        let _ = signal_hook::flag::register_usize(signal, cancel.cell(), number);
    }
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Ends the program by the signal that set `cancel`, if one did.
pub fn end_by_caught(cancel: &Cancel) {
    if let Some(signal) = cancel.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}
