//! Everything that a server can do wrong is a classed error, never a panic, never an answer.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use vault_agent::brain::wire::{BrainTimeouts, WireFormat};
use vault_agent::brain::{BrainError, FailureClass};

use crate::brain::rig::{KEY, PATIENT, ask, brain, question};
use crate::models::{Fault, ModelServer, Reply};

async fn fails(wire: WireFormat, reply: Reply, watch: BrainTimeouts) -> BrainError {
    let server = ModelServer::of(vec![reply]).await;
    let (answer, _) = ask(&brain(wire, &server.url(), watch), &question("?")).await;
    let error = answer.expect_err("no answer");
    assert!(!error.message.contains(KEY) && !error.message.contains("127.0.0.1"), "{error}");
    error
}

#[tokio::test]
async fn statuses_are_classed() {
    let table = [
        (401, "", FailureClass::Auth),
        (402, "", FailureClass::Billing),
        (404, "", FailureClass::UnknownModel),
        (422, "", FailureClass::Format),
        (429, "", FailureClass::RateLimit),
        (500, "", FailureClass::Overloaded),
        (529, "", FailureClass::RateLimit),
        (302, "", FailureClass::Format),
        (
            429,
            r#"{"error":{"code":"insufficient_quota","message":"test-key-0123456789 has no quota"}}"#,
            FailureClass::Billing,
        ),
        (400, r#"{"error":{"message":"prompt is too long"}}"#, FailureClass::Format),
    ];
    for wire in WireFormat::ALL {
        for (status, body, class) in table {
            let error = fails(wire, Reply::status(status).body(body), PATIENT).await;
            assert_eq!((error.class, error.status), (class, Some(status)), "{wire:?}: {error}");
        }
        let error = fails(wire, Reply::status(429).retry_after(17), PATIENT).await;
        assert_eq!(error.retry_after, Some(Duration::from_secs(17)));
        let error =
            fails(wire, Reply::status(503).header("Retry-After", "Tue, 01 Dec 2026 09:31:00 GMT"), PATIENT)
                .await;
        assert_eq!(error.retry_after, Some(Duration::from_secs(60)));
        // An error's text that never ends, or never comes.
        let error = fails(wire, Reply::status(500).body("x".repeat(300_000)), PATIENT).await;
        assert_eq!(error.class, FailureClass::Overloaded);
        assert!(error.message.len() < 1000);
        let error =
            fails(wire, Reply::status(400).body("prompt is too long").fault(Fault::Cut(5)), PATIENT).await;
        assert_eq!(error.class, FailureClass::Format);
    }
}

#[tokio::test]
async fn what_breaks_is_a_crash() {
    for wire in WireFormat::ALL {
        let replies = [
            Reply::garbage(),
            Reply::raw("text/html", "<html><title>Log in</title></html>"),
            Reply::raw("text/event-stream", ""),
            Reply::raw("text/event-stream", "data: [DONE]\n\n"),
            Reply::raw("text/event-stream", b"\xef\xbb\xbfdata: {}\n\ndata: \xff\xfe\n\n".to_vec()),
            Reply::raw("text/event-stream", "data: null\n\ndata: 7\n\ndata: [1]\n\ndata: \"x\"\n\n"),
            Reply::raw(
                "text/event-stream",
                "data: {\"choices\":[{\"delta\":{\"tool_calls\":[7,{\"index\":-1}]}}]}\n\n",
            ),
            Reply::raw("application/json", "{\"half\": "),
            Reply::raw("application/json", "[]"),
            Reply::raw("application/json", "{\"error\":\"the runner has stopped\"}"),
            Reply::raw("text/event-stream", "data: ".to_owned() + &"x".repeat(5 << 20)).pieces(vec![1 << 20]),
            Reply::cut_after(0),
            Reply::cut_after(700),
            Reply::text("Half").fault(Fault::EndEarly(300)),
            Reply::reset(),
        ];
        for reply in replies {
            let shown =
                format!("{:?}", reply.verbatim.as_ref().map(|(kind, bytes)| (kind, bytes.len().min(99))));
            let error = fails(wire, reply, PATIENT).await;
            assert_eq!(error.class, FailureClass::Crash, "{wire:?} {shown}: {error}");
        }
    }
    let nobody = brain(WireFormat::Chat, "http://127.0.0.1:1", PATIENT);
    assert_eq!(ask(&nobody, &question("?")).await.0.unwrap_err().class, FailureClass::Crash);
    let nonsense = brain(WireFormat::Chat, "not a url", PATIENT);
    assert_eq!(ask(&nonsense, &question("?")).await.0.unwrap_err().class, FailureClass::Crash);
}

#[tokio::test]
async fn errors_within_a_stream_are_classed() {
    let table = [
        ("overloaded_error", FailureClass::RateLimit),
        ("rate_limit_exceeded", FailureClass::RateLimit),
        ("server_error", FailureClass::Overloaded),
        ("insufficient_quota", FailureClass::Billing),
        ("authentication_error", FailureClass::Auth),
        ("whatever", FailureClass::Crash),
    ];
    for wire in WireFormat::ALL {
        for (kind, class) in table {
            let reply = Reply::error_event(kind, &format!("no, {KEY}"));
            assert_eq!(fails(wire, reply, PATIENT).await.class, class, "{wire:?} {kind}");
        }
    }
}

#[tokio::test]
async fn watchdogs_bite_and_the_server_notices() {
    let short = Duration::from_millis(200);
    let table = [
        (BrainTimeouts { first_byte: short, ..PATIENT }, Reply::hang()),
        (
            BrainTimeouts { silence: short, ..PATIENT },
            Reply::text("Half an answer").fault(Fault::HangAfter(400)),
        ),
        (BrainTimeouts { silence: short, ..PATIENT }, Reply::text("Head alone").fault(Fault::HangAfter(0))),
        (
            BrainTimeouts { overall: short, ..PATIENT },
            Reply::text("Slow ".repeat(500)).slow(40, Duration::from_millis(20)),
        ),
    ];
    for wire in WireFormat::ALL {
        for (watch, reply) in table.clone() {
            let server = ModelServer::of(vec![reply]).await;
            let (answer, _) = ask(&brain(wire, &server.url(), watch), &question("?")).await;
            assert_eq!(answer.unwrap_err().class, FailureClass::Timeout, "{wire:?}");
            server.wait_for_gone(1).await;
        }
    }
}

#[tokio::test]
async fn slow_is_not_silent() {
    let patient = BrainTimeouts { silence: Duration::from_secs(20), ..PATIENT };
    for wire in WireFormat::ALL {
        let server =
            ModelServer::of(vec![Reply::text("In the end all of it.").slow(200, Duration::from_millis(5))])
                .await;
        let answer = ask(&brain(wire, &server.url(), patient), &question("?")).await.0.unwrap();
        assert_eq!(answer.text, "In the end all of it.");
    }
}

#[tokio::test]
async fn a_whole_answer_does_not_wait_for_its_usage() {
    // A chat server that neither says `[DONE]` nor closes.
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let server = ModelServer::start().await;
    let watch = BrainTimeouts { silence: Duration::from_millis(100), ..PATIENT };
    server.script(vec![Reply::raw("text/event-stream", stream).fault(Fault::HangAfter(usize::MAX))]);
    let answer = ask(&brain(WireFormat::Chat, &server.url(), watch), &question("?")).await.0.unwrap();
    assert_eq!(answer.text, "Yes.");
}

#[tokio::test]
async fn a_stopped_call_ends_at_once() {
    for wire in WireFormat::ALL {
        let server = ModelServer::of(vec![Reply::hang()]).await;
        let (cancel, brain) = (CancellationToken::new(), brain(wire, &server.url(), PATIENT));
        let (events, heard) = mpsc::channel(1);
        drop(heard);
        let stop = cancel.clone();
        let question = question("?");
        let (answer, ()) = tokio::join!(brain.call(&question, events, cancel), async {
            server.wait_for(1).await;
            stop.cancel();
        });
        let error = answer.unwrap_err();
        assert!(error.cancelled, "{error}");
        server.wait_for_gone(1).await;
    }
}

#[tokio::test]
async fn nobody_has_to_listen() {
    for wire in WireFormat::ALL {
        let server = ModelServer::of(vec![Reply::text("word ".repeat(300))]).await;
        let (events, heard) = mpsc::channel(1);
        drop(heard);
        let answer =
            brain(wire, &server.url(), PATIENT).call(&question("?"), events, CancellationToken::new()).await;
        assert_eq!(answer.unwrap().text.len(), 1500);
    }
}
