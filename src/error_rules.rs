//! Provides a macro that compares an error with rules for different error types, and returns the value of the first
//! rule that matches.

/// Returns from the function with the value of the first rule whose pattern matches the error. The pattern, or its use
/// in the value, determines the error's type. If no rule matches, the function continues after the macro.
macro_rules! error_rules {
    ($error:expr; $($pattern:pat => $said:expr,)+) => {
        $(if let Some($pattern) = $error.downcast_ref() {
            return $said;
        })+
    };
}

pub(crate) use error_rules;
