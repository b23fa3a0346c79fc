//! `setup`: asks a person about a new vault or takes the answers from a file, shows a plan, and carries it out.
//!
//! [`crate::setup`] decides the questions and computes the plan. [`prompt`] asks at the terminal, [`checks`] runs the
//! checks, and this file writes. Nothing is written before the plan is shown. The files are written in this order:
//! secrets, the vault, its settings, the service. If the program stops in between, no file refers to a secret that is
//! missing.

mod checks;
mod prompt;

use prompt::Terminal;
use secrecy::{ExposeSecret, SecretString};

use super::init;
use crate::cli::daemon::service;
use crate::cli::prelude::*;
use crate::config::{
    self, DISCORD_TOKEN_VARIABLE, EMAIL_PASSWORD_VARIABLE, FILE_NAME, NTFY_TOKEN_VARIABLE,
    SIGNED_SECRET_VARIABLE, SIGNED_URL_VARIABLE, WEBHOOK_VARIABLE, is_executable, json_file,
};
#[cfg(feature = "assistant")]
use crate::setup::{BrainTrial, DiscordBot, DiscordChannel};
use crate::setup::{
    MachineFacts, NotifierTrial, QuestionKey, SecretFile, SecretSource, SetupAnswers, SetupIo, SetupPlan,
    SetupQuestion, VaultFolder,
};
use crate::vault::{Actor, EditError, Origin};
use crate::workspace::SettingsFileError;

/// Sets up a vault, question by question: folder, time zone, notifiers, a brain, a service.
///
/// Each answer is checked on the spot: with a test message, a test question. Enter accepts the value in brackets,
/// `skip` skips a question, Ctrl-C quits; nothing is written before it is shown. Run it again to change something.
/// Without a terminal, the answers come from a file: `vault = "~/MyVault"`, `timezone`, `notify`, `[discord]
/// token_file, channel_id, owner_id`, `[ntfy] topic`, `[email] server, user, password_file`, `[webhook] url_file,
/// secret_file`, `[brain] kind, model, url, key_file`, `service = true`; a missing key counts as Enter, and no brain
/// and no service is set up unless the file names them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The answers, as TOML; asks nothing.
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Shows what would be written, and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// Sends no test message and asks no test question.
    #[arg(long)]
    no_tests: bool,
}

/// Runs `setup`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let source = SetupAnswerSource::new(context, args)?;
    let mut session = Session { context, source, no_tests: args.no_tests };
    let plan = crate::setup::run(&mut session, &machine(context)?, args.answers.is_some())?;
    context.ui.line("This is what will be written:");
    plan.lines.iter().for_each(|line| context.ui.line(format!("  {line}")));
    if let Err(why) = &plan.settings {
        return Err(CommandError::problem(why));
    }
    let is_wanted = !args.dry_run && session.source.may_write()?;
    let status = if is_wanted { write(context, &plan)? } else { Status::Fine };
    context.ui.json(&serde_json::json!({ "vault": plan.root, "plan": plan.lines, "written": is_wanted }));
    if !is_wanted {
        context.ui.note("nothing was written");
    }
    Ok(status)
}

/// One run of the dialogue.
struct Session<'a> {
    context: &'a Context,
    source: SetupAnswerSource,
    /// Whether the checks that send something are left out.
    no_tests: bool,
}

impl Session<'_> {
    fn tested<W: AsRef<str>>(&self, test: impl FnOnce() -> Result<W, String>) -> Result<(), String> {
        match self.no_tests {
            true => self.source.print_ok("not tested"),
            false => self.source.print_ok(test()?.as_ref()),
        }
        Ok(())
    }
}

impl SetupIo for Session<'_> {
    type End = CommandError;

    fn ask(&mut self, question: &SetupQuestion) -> Result<String> {
        self.source.answer(question)
    }

    fn vault_folder(&self, path: &Path) -> Result<VaultFolder, String> {
        checks::folder(path)
    }

    fn secret(&self, source: &SecretSource, root: &Path) -> Result<SecretString, String> {
        let (variable, file) = match source {
            SecretSource::Variable(name) => (*name, None),
            SecretSource::File(file) => ("", Some(file.as_str())),
        };
        match config::secret(variable, file, root) {
            Ok(secret) => secret.ok_or_else(|| format!("`{variable}` is not set")),
            Err(error) => {
                let hint = error.suggestion.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
                Err(format!("{error}{hint}"))
            }
        }
    }

    fn test_notifier(&self, trial: &NotifierTrial) -> Result<(), String> {
        self.tested(|| checks::block_on(checks::test_notifier(trial, &self.context.clock)))
    }

    #[cfg(feature = "assistant")]
    fn test_brain(&self, trial: &BrainTrial) -> Result<(), String> {
        self.tested(|| checks::test_brain(self.context, trial))
    }

    #[cfg(feature = "assistant")]
    fn bot(&self, token: &SecretString, base: Option<&str>) -> Result<DiscordBot, String> {
        let bot = checks::block_on(crate::discord::setup::bot(&checks::discord_api(token, base)?))?;
        self.source.print_ok(&format!("Discord knows the bot as `{}`", bot.name));
        Ok(bot)
    }

    #[cfg(feature = "assistant")]
    fn channels(&self, token: &SecretString, base: Option<&str>) -> Result<Vec<DiscordChannel>, String> {
        checks::block_on(crate::discord::setup::channels(&checks::discord_api(token, base)?))
    }
}

/// The source of answers: a person at a terminal, or a file.
enum SetupAnswerSource {
    Terminal(Terminal),
    File(SetupAnswers, PathBuf),
}

impl SetupAnswerSource {
    fn new(context: &Context, args: &Args) -> Result<Self> {
        if let Some(file) = &args.answers {
            let shown = file.display();
            let text = std::fs::read_to_string(file)
                .map_err(|error| CommandError::usage(format!("can't read the answers `{shown}`: {error}")))?;
            let answers =
                SetupAnswers::parse(&text).map_err(|why| CommandError::usage(format!("`{shown}`: {why}")))?;
            return Ok(Self::File(answers, file.clone()));
        }
        if !context.ui.can_ask() {
            return Err(CommandError::usage("the setup needs a terminal for its questions")
                .hint("give the answers in a file: `vault-agent setup --answers FILE`")
                .hint("or make a vault with `vault-agent init DIR`"));
        }
        Ok(Self::Terminal(Terminal::begin(context.ui)))
    }

    fn answer(&mut self, question: &SetupQuestion) -> Result<String> {
        match self {
            Self::Terminal(terminal) => terminal.ask(question),
            Self::File(answers, file) => {
                let key = question.step.key();
                if let Some(problem) = &question.problem {
                    let error = CommandError::usage(format!("`{}`: `{key}`: {problem}", file.display()));
                    return Err(error.hint("nothing was written"));
                }
                // The values that a file leaves out: no brain and no service, else the default.
                let unanswered = match question.step {
                    QuestionKey::Brain => "none",
                    QuestionKey::Service => "no",
                    _ => "",
                };
                Ok(answers.of(question.step).unwrap_or(unanswered).to_owned())
            }
        }
    }

    fn print_ok(&self, words: &str) {
        if let Self::Terminal(terminal) = self {
            terminal.print_ok(words);
        }
    }

    fn may_write(&self) -> Result<bool> {
        match self {
            Self::Terminal(terminal) => terminal.confirm("Write this?"),
            Self::File(..) => Ok(true),
        }
    }
}

/// The facts about this machine.
fn machine(context: &Context) -> Result<MachineFacts> {
    let home = etcetera::home_dir().ok().filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| CommandError::problem("no home directory is known").hint("set `HOME`"))?;
    let here = current_dir()?;
    let named = context.named_vault().map(|vault| here.join(vault));
    let variables = [
        DISCORD_TOKEN_VARIABLE,
        WEBHOOK_VARIABLE,
        NTFY_TOKEN_VARIABLE,
        EMAIL_PASSWORD_VARIABLE,
        SIGNED_URL_VARIABLE,
        SIGNED_SECRET_VARIABLE,
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
    ];
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let listed = std::fs::read_dir(home.join(".config/vault-agent"));
    let names =
        listed.map(|entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()));
    let mut random = [0; 40];
    getrandom::fill(&mut random)
        .map_err(|error| CommandError::problem(format!("no random numbers: {error}")))?;
    Ok(MachineFacts {
        vault: named.or_else(|| config::find_vault(&here)),
        zone: init::zone_here(),
        now: context.clock.now(),
        has_desktop: checks::has_desktop(),
        has_services: checks::has_services(),
        variables: variables.into_iter().filter(is_set).collect(),
        programs: ["claude", "codex"].into_iter().filter(|program| is_executable(program)).collect(),
        local_url: checks::local_url(),
        local_models: checks::local_models(),
        used_names: names.map(Iterator::collect).unwrap_or_default(),
        topic: format!("vault-{}", data_encoding::HEXLOWER.encode(&random[..8])),
        signing_secret: format!("whsec_{}", data_encoding::BASE64.encode(&random[8..])).into(),
        home,
        working_folder: here,
    })
}

/// Writes the plan and prints the next steps.
fn write(context: &Context, plan: &SetupPlan) -> CommandResult {
    let settings = plan.settings.clone().map_err(CommandError::problem)?;
    for secret in &plan.secrets {
        write_secret(secret).map_err(CommandError::unwritable(&secret.path))?;
    }
    let (mut workspace, written) = init::write_template(context, &plan.root, Some((&plan.zone, &settings)))?;
    if let Some(before) = plan.before.as_ref().filter(|before| **before != settings) {
        replace_settings(&workspace, before, &settings)?;
        workspace = workspace.reload()?.unwrap_or(workspace);
    }
    init::print_zone(context, &workspace, written.has_settings());
    context.ui.note(format!("made {} files in {}", written.created.len(), plan.root.display()));
    let runs = plan.service && service::install_for(context, &plan.root)?;
    print_next_steps(context, plan, runs);
    Ok(Status::of(runs == plan.service && written.failed.is_empty()))
}

/// Writes a file that only its owner can read, whole or not at all.
fn write_secret(secret: &SecretFile) -> std::io::Result<()> {
    config::create_private(secret.path.parent().unwrap_or(Path::new("/")))?;
    let line = format!("{}\n", secret.value.expose_secret());
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    json_file::replace_with(&secret.path, line.as_bytes(), true, Some(&owner_only))
}

/// Replaces the settings that were shown by the planned ones.
fn replace_settings(workspace: &Workspace, before: &str, after: &str) -> Result<()> {
    workspace.editor.count_as_settled(true);
    let planned = |text: &str| if text == before { Ok(after.to_owned()) } else { Err(String::new()) };
    match workspace.change_settings(&Origin::new(Actor::Cli), "setup: changed the settings", planned) {
        Ok(_) => Ok(()),
        Err(SettingsFileError::Write(error)) if !matches!(error, EditError::Vault(_)) => Err(error.into()),
        Err(_) => {
            Err(CommandError::problem(format!("`{FILE_NAME}` changed meanwhile, so it was not written"))
                .hint("run `vault-agent setup` again"))
        }
    }
}

fn print_next_steps(context: &Context, plan: &SetupPlan, runs: bool) {
    let ui = context.ui;
    let dir = init::shell_word(&plan.root);
    if runs {
        ui.line("It runs. A sample reminder comes within a minute; `vault-agent status` shows the state, `vault-agent web` opens the page.");
    } else {
        ui.line(format!("Start it: vault-agent run --vault {dir}"));
    }
    ui.line(format!("Open {} in Obsidian, and look at Reminders.md.", plan.root.display()));
}
