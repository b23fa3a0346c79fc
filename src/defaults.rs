//! Defines a macro that declares a struct with the defaults of its fields.

/// Declares a struct whose fields may have a default, as in `pub open: u32 = 20`; a field without one has its type's
/// default.
macro_rules! defaults {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $type:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[$field_attribute])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::defaults::defaults!(@default $($default)?),)* }
            }
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
}

pub(crate) use defaults;
