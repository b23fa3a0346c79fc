use super::*;

fn classed(code: u16, body: &str) -> BrainError {
    status(code, body, &["s3cret-key"])
}

#[test]
fn every_row_of_the_table() {
    use FailureClass::*;
    let table = [
        (402, "", Billing),
        (402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#, Billing),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            Billing,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            Billing,
        ),
        (403, r#"{"error":{"message":"This key has used all its credits"}}"#, Billing),
        (500, "quota exceeded", Billing),
        (429, "", RateLimit),
        (
            429,
            r#"{"error":{"message":"Rate limit reached on requests per min. Please try again in 20s. You can increase your rate limit by adding a payment method: https://platform.openai.com/account/billing","code":"rate_limit_exceeded"}}"#,
            RateLimit,
        ),
        (
            429,
            r#"[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 12.5s.","status":"RESOURCE_EXHAUSTED"}}]"#,
            RateLimit,
        ),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, RateLimit),
        (401, r#"{"error":{"message":"Incorrect API key provided: s3cret-key"}}"#, Auth),
        (403, "", Auth),
        (408, "", Timeout),
        (504, "<html><title>504 Gateway Time-out</title></html>", Timeout),
        (500, "", Overloaded),
        (502, "<html>", Overloaded),
        (503, "the load balancer has no backend", Overloaded),
        (400, r#"{"error":{"message":"bad tools"}}"#, Format),
        (422, r#"{"detail":[{"msg":"field required","input":"what is my credit balance"}]}"#, Format),
        (413, "", Format),
        (405, "", Format),
        (302, "", Format),
        (404, r#"{"error":"model 'x' not found, try pulling it first"}"#, UnknownModel),
    ];
    for (code, body, class) in table {
        let error = classed(code, body);
        assert_eq!(error.class, class, "{code} {body}: {error}");
        assert!(!error.message.contains("s3cret"), "{error}");
        assert!(!error.cancelled);
    }
}

#[test]
fn what_is_too_long_is_said_so() {
    let long = [
        (413, ""),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        ),
        (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#),
        (400, r#"{"error":{"message":"This model's maximum context length is 8192 tokens."}}"#),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
        ),
        (500, "the request exceeds the available context size"),
    ];
    for (code, body) in long {
        let error = classed(code, body);
        assert_eq!((error.class, error.too_long), (FailureClass::Format, true), "{code} {body}");
    }
    assert!(!classed(400, "bad").too_long);
    assert!(!classed(429, "maximum context length").too_long);
}

#[test]
fn errors_in_a_stream_follow_the_same_rules() {
    use serde_json::json;
    let table = [
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            FailureClass::RateLimit,
        ),
        (
            json!({"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}),
            FailureClass::Overloaded,
        ),
        (
            json!({"type": "error", "error": {"type": "authentication_error", "message": "no"}}),
            FailureClass::Auth,
        ),
        (json!({"error": {"code": 502, "message": "Provider disconnected"}}), FailureClass::Overloaded),
        (json!({"error": {"code": "429", "message": "slow down"}}), FailureClass::RateLimit),
        (json!({"error": {"code": "rate_limit_exceeded", "message": "slow"}}), FailureClass::RateLimit),
        (json!({"code": "server_error", "message": "sorry"}), FailureClass::Overloaded),
        (json!({"error": {"type": "insufficient_quota", "message": "x"}}), FailureClass::Billing),
        (json!({"error": {"message": "prompt is too long"}}), FailureClass::Format),
        (json!({"error": "model runner has unexpectedly stopped"}), FailureClass::Crash),
        (json!({"error": {}}), FailureClass::Crash),
        (json!(7), FailureClass::Crash),
    ];
    for (value, class) in table {
        assert_eq!(in_stream(&value, &[]).class, class, "{value}");
    }
}

#[test]
fn the_wait_is_read_in_every_form() {
    let now: Timestamp = "2026-12-01T09:30:00Z".parse().unwrap();
    let wait = |retry_after, retry_after_ms| wait(retry_after, retry_after_ms, now);
    let seconds = |n| Some(Duration::from_secs(n));
    assert_eq!(wait(Some("20"), None), seconds(20));
    assert_eq!(wait(Some(" 1.5 "), None), Some(Duration::from_millis(1500)));
    assert_eq!(wait(Some("20"), Some("250")), Some(Duration::from_millis(250)));
    assert_eq!(wait(Some("Tue, 01 Dec 2026 09:32:00 GMT"), None), seconds(120));
    assert_eq!(wait(Some("Tue, 01 Dec 2026 09:00:00 GMT"), None), seconds(0));
    assert_eq!(wait(Some("Fri, 31 Dec 9999 23:59:59 GMT"), None), seconds(u64::from(u32::MAX)));
    assert!(wait(Some("Wed, 01 Dec 9999 00:00:00 GMT"), None) > seconds(1 << 30));
    for nonsense in ["", "-5", "soon", "NaN", "inf", "1e400"] {
        assert_eq!(wait(Some(nonsense), None), None, "{nonsense}");
    }
}
