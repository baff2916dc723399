//! The options, and what help says.

use sylvan_cmdline::table::{OptionSpec, flag, short, value};

pub(crate) static OPTIONS: &[OptionSpec] = &[
    short('d', flag("daemon", "serve as a daemon")),
    short(
        'i',
        flag("inetd", "serve the client on standard input and output"),
    ),
    short(
        't',
        flag(
            "tunnel",
            "serve the client of a tunnel, who is known already",
        ),
    ),
    short(
        'X',
        flag("listen-once", "serve one client and end (for debugging)"),
    ),
    short('r', value("root", "the folder that URLs begin in")),
    short(
        'R',
        flag(
            "read-only",
            "allow no changes, whatever the configuration says",
        ),
    ),
    value(
        "config-file",
        "take this svnserve.conf for all repositories, not\ntheir own",
    ),
    value("listen-port", "the port, by default 3690 [-d, -X]"),
    value(
        "listen-host",
        "the host name or address to listen on, by default\nall addresses [-d, -X]",
    ),
    short(
        '6',
        flag(
            "prefer-ipv6",
            "listen on an IPv6 address if the host name has\none, or on all of IPv6",
        ),
    ),
    short(
        'c',
        value(
            "compression",
            "how contents are sent: 0 plain, 1 to 9 compressed,\nby default 5",
        ),
    ),
    short(
        'M',
        value(
            "memory-cache-size",
            "megabytes of memory in which parts of repositories\nare kept, by default 16",
        ),
    ),
    value(
        "cache-txdeltas",
        "taken for compatibility; the cache decides itself",
    ),
    value(
        "cache-fulltexts",
        "taken for compatibility; the cache decides itself",
    ),
    value(
        "cache-revprops",
        "taken for compatibility; the cache decides itself",
    ),
    value(
        "cache-nodeprops",
        "taken for compatibility; the cache decides itself",
    ),
    value(
        "client-speed",
        "taken for compatibility; the network decides itself",
    ),
    value(
        "block-read",
        "taken for compatibility; the cache decides itself",
    ),
    short(
        'T',
        flag(
            "threads",
            "taken for compatibility: clients always have threads",
        ),
    ),
    value(
        "min-threads",
        "threads that stay when there is nothing to do, by\ndefault 1",
    ),
    value(
        "max-threads",
        "threads that work at once, by default 256; those\nthat wait for the network do not count",
    ),
    value(
        "max-request-size",
        "megabytes that a request may have, by default 16;\n0 is no limit",
    ),
    value(
        "max-response-size",
        "megabytes that a response may have, by default 0,\nwhich is no limit",
    ),
    flag("foreground", "stay in the foreground [-d]"),
    flag(
        "single-thread",
        "serve one client after the other (for debugging)",
    ),
    value(
        "log-file",
        "append operations and errors to this file; SIGHUP\nopens it again",
    ),
    value(
        "pid-file",
        "write the process's number to this file [-d, -X]",
    ),
    value(
        "tunnel-user",
        "who the client of a tunnel is, by default the user\nthat runs the program [-t]",
    ),
    short('h', flag("help", "print this help")),
    flag(
        "virtual-host",
        "look for repositories in the folder of the URL's\nhost name, below the root",
    ),
    value(
        "idle-timeout",
        "seconds after which clients have to leave that send\nno command; by default they need not",
    ),
    value(
        "stall-timeout",
        "seconds after which clients have to leave that stop\nin the midst of a command; by default they need not",
    ),
    value(
        "metrics",
        "answer GET /metrics and /health on this port of the\nloopback, or at this ADDRESS:PORT",
    ),
    flag("version", "print the program's version"),
    short('q', flag("quiet", "with --version, print the number alone")),
];

pub(crate) const HELP: &str = "\
usage: svnserve [-d | -i | -t | -X] [OPTIONS]
Serves repositories to clients of svn://.
Type 'svnserve --version' for the version.

Valid options:
";
