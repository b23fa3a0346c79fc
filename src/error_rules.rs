//! Provides a macro that lists rules for errors of different types; the first rule that matches an error gives its
//! value.

/// Returns from the function what the first rule says whose pattern the error fits; a pattern names the error's type, or its
/// use does. An error that fits none goes on behind the rules.
macro_rules! error_rules {
    ($error:expr; $($pattern:pat => $said:expr,)+) => {
        $(if let Some($pattern) = $error.downcast_ref() {
            return $said;
        })+
    };
}

pub(crate) use error_rules;
