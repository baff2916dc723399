//! Sessions over `file://`: the repository is on a file system of this machine.

mod place;
mod session;

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_fs::Cache;
use sylvan_io::Category;

use crate::{Context, Session};
use place::Place;
use session::LocalSession;

/// Opens a session.
pub(crate) fn open(url: &Url, context: &Context) -> Result<Box<dyn Session>> {
    let place = Place::find(url, cache(context)?)?;
    Ok(Box::new(LocalSession::new(place, url, context)))
}

/// Returns what sessions of the program keep in memory; as much as the user's configuration says.
fn cache(context: &Context) -> Result<Cache> {
    let option = (Category::Config, "miscellany", "memory-cache-size");
    let Some(megabytes) = context.config.get(option.0, option.1, option.2) else {
        return Ok(context.cache.clone());
    };
    let parsed = megabytes.trim().parse::<usize>().ok();
    let bytes = parsed.and_then(|megabytes| megabytes.checked_mul(1 << 20));
    let bytes = bytes.ok_or_else(|| {
        Error::new(
            ErrorCode::INCORRECT_PARAMS,
            format!("Could not convert '{megabytes}' into a number"),
        )
        .context("memory-cache-size invalid")
        .wrap(
            ErrorCode::ATOMIC_INIT_FAILURE,
            "Couldn't perform atomic initialization",
        )
    })?;
    Ok(Cache::new(bytes))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sylvan_io::Config;

    use super::*;
    use crate::auth::{Auth, AuthOptions, NoPrompt};

    #[test]
    fn the_size_of_the_cache_is_a_number() {
        for (text, error) in [
            ("64", None),
            (
                "x",
                Some(
                    "E200029: Couldn't perform atomic initialization\n\
                     E200004: memory-cache-size invalid\n\
                     E200004: Could not convert 'x' into a number\n",
                ),
            ),
        ] {
            let mut config = Config::default();
            config.set(Category::Config, "miscellany", "memory-cache-size", text);
            let config = Arc::new(config);
            let auth = Auth::new(
                AuthOptions::default(),
                Arc::clone(&config),
                Box::new(NoPrompt),
            );
            let failed = cache(&Context::new(config, auth)).err();
            let lines = failed.map(|error| error.to_lines(""));
            assert_eq!(lines.as_deref(), error);
        }
    }
}
