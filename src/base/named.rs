//! Enums whose variants have names, which records hold and messages show.

/// Declares an enum with the name of each variant beside it, as `name()`, and all variants in order, as `ALL`.
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $type:ident { $($(#[$attribute:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $type {
            $($(#[$attribute])* $variant,)+
        }

        impl $type {
            /// All of them, in order.
            #[allow(dead_code, reason = "not every enum is listed")]
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Their names, in the same order.
            #[allow(dead_code, reason = "not every enum is listed")]
            pub const NAMES: [&str; [$($name),+].len()] = [$($name),+];

            /// Its name, in most cases as records have it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

pub(crate) use named;
