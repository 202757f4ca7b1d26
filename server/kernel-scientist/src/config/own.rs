//! The user's own settings file, which holds for all folders where theirs says nothing else.

use std::path::{Path, PathBuf};

use super::{Config, FILE_NAME, ScientistConfig};

/// The file that holds for all of the user's folders: `$XDG_CONFIG_HOME/kernel-scientist/kernel-scientist.toml`.
pub(super) fn path() -> Option<PathBuf> {
    dirs::config_dir().map(|folder| folder.join("kernel-scientist").join(FILE_NAME))
}

impl Config {
    /// Fills what this file leaves open from the user's own.
    ///
    /// A folder's file may come from anyone, so it raises no limit of the user's and counts after the user's prices.
    pub(super) fn over(mut self, own: Self) -> Self {
        let folder = own.path.as_deref().and_then(Path::parent);
        let mut own_scientist = own.scientist.clone();
        for place in [&mut own_scientist.prompts, &mut own_scientist.knowledge] {
            // Relative to the file that names it.
            if let (Some(path), Some(folder)) = (&place, folder) {
                *place = Some(folder.join(path));
            }
        }
        for (name, device) in own.device {
            self.device.entry(name).or_insert(device);
        }
        self.scientist = merged(self.scientist, own_scientist.clone(), self.is_named);
        self.path = self.path.or(own.path);
        self.own = own_scientist;
        self
    }

    /// Whether an address is one that the user named: in a file given by name, or in the user's own.
    pub fn is_named_by_user(&self, kind: llm::Kind) -> bool {
        let own = self.own.base_url_of(kind);
        self.is_named || own.is_some() && own == self.scientist.base_url_of(kind)
    }

    /// What calls cost: prices in a file that the user wrote or named are believed, those of a folder make nothing cheaper.
    pub fn prices(&self) -> llm::PriceTable {
        match self.is_named {
            true => llm::PriceTable::with(&self.scientist.price, &[]),
            false => llm::PriceTable::with(&self.own.price, &self.scientist.price),
        }
    }

    /// Whether who is asked is what the user's own file says, and no folder's has a say in it.
    pub fn is_chosen_by_user(&self) -> bool {
        let chosen = |from: &ScientistConfig| {
            [&from.provider, &from.model, &from.selector, &from.designer, &from.writer].map(Clone::clone)
        };
        chosen(&self.scientist) == chosen(&self.own)
    }

    /// Whether the command that prints a key is the user's, and may be run.
    pub fn may_run_key_command(&self) -> bool {
        let ScientistConfig { api_key_command: command, .. } = &self.scientist;
        self.is_named || command.is_none() || *command == self.own.api_key_command
    }
}

fn merged(folder: ScientistConfig, own: ScientistConfig, is_named: bool) -> ScientistConfig {
    // Who is asked goes together: a folder's provider does not go with another one's model.
    let names_all = folder.provider.is_some();
    let names_some = names_all || folder.model.is_some();
    let unless = |is_said: bool, own: Option<String>| own.filter(|_| !is_said);
    let less = |folder: Option<u64>, own: Option<u64>| match (folder, own) {
        (Some(folder), Some(own)) if !is_named => Some(folder.min(own)),
        (folder, own) => folder.or(own),
    };
    let max_usd = match (folder.max_usd, own.max_usd) {
        (Some(folder), Some(own)) if !is_named => Some(folder.min(own)),
        (folder, own) => folder.or(own),
    };
    let price = match is_named {
        true => [folder.price, own.price].concat(),
        false => [own.price, folder.price].concat(),
    };
    ScientistConfig {
        provider: folder.provider.or(own.provider),
        model: folder.model.or(unless(names_all, own.model)),
        selector: folder.selector.or(unless(names_some, own.selector)),
        designer: folder.designer.or(unless(names_some, own.designer)),
        writer: folder.writer.or(unless(names_some, own.writer)),
        base_url: folder.base_url.or(own.base_url),
        anthropic_base_url: folder.anthropic_base_url.or(own.anthropic_base_url),
        gemini_base_url: folder.gemini_base_url.or(own.gemini_base_url),
        max_usd,
        max_tokens: less(folder.max_tokens, own.max_tokens),
        max_calls: less(folder.max_calls, own.max_calls),
        max_calls_at_once: folder.max_calls_at_once.or(own.max_calls_at_once),
        max_output_tokens: folder.max_output_tokens.or(own.max_output_tokens),
        api_key_command: folder.api_key_command.or(own.api_key_command),
        prompts: folder.prompts.or(own.prompts),
        knowledge: folder.knowledge.or(own.knowledge),
        knowledge_tokens: folder.knowledge_tokens.or(own.knowledge_tokens),
        price,
    }
}

/// The name under which a key stands in a settings file, where one does. Its value is not to be told.
pub(super) fn key_in(text: &str) -> Option<String> {
    let is_key = |name: &str| {
        let name = name.to_lowercase().replace('-', "_");
        ["key", "apikey", "api_key", "token", "api_token"].contains(&name.as_str()) || name.ends_with("_api_key")
    };
    // Line by line: it must be found in a file that is no TOML, too, whose error would show the line.
    let names = text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim().trim_matches('"'));
    names.map(|name| name.rsplit('.').next().unwrap_or(name).trim()).find(|name| is_key(name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &str, own: &str) -> Config {
        let parse = |text: &str, path: &str| Config { path: Some(path.into()), ..toml::from_str(text).unwrap() };
        parse(folder, "/project/kernel-scientist.toml").over(parse(own, "/home/ada/.config/kernel-scientist/x.toml"))
    }

    fn scientist(folder: &str, own: &str) -> ScientistConfig {
        read(&format!("[scientist]\n{folder}"), &format!("[scientist]\n{own}")).scientist
    }

    #[test]
    fn what_a_folder_leaves_open_is_the_users() {
        let own = "provider = \"anthropic\"\nmodel = \"claude\"\nselector = \"openai:small\"\nprompts = \"mine\"\n";
        let found = scientist("knowledge = \"notes\"", own);
        assert_eq!((found.provider.as_deref(), found.model.as_deref()), (Some("anthropic"), Some("claude")));
        assert_eq!(found.selector.as_deref(), Some("openai:small"));
        assert_eq!(found.prompts.as_deref(), Some(Path::new("/home/ada/.config/kernel-scientist/mine")));
        assert_eq!(found.knowledge.as_deref(), Some(Path::new("notes")));

        let found = scientist("provider = \"gemini\"\nmodel = \"g\"", own);
        assert_eq!((found.provider.as_deref(), found.model.as_deref()), (Some("gemini"), Some("g")));
        assert_eq!(found.selector, None);
        let found = scientist("provider = \"catalog\"", own);
        assert_eq!((found.provider.as_deref(), found.model, found.selector), (Some("catalog"), None, None));
        let found = scientist("model = \"claude-2\"", own);
        assert_eq!((found.provider.as_deref(), found.model.as_deref()), (Some("anthropic"), Some("claude-2")));

        let devices = read(
            "[device.a]\ntoolchain = \"hip\"",
            "[device.a]\ntoolchain = \"cuda\"\n[device.b]\ntoolchain = \"cpu\"",
        );
        let toolchains: Vec<_> = devices.device.values().map(|device| device.toolchain).collect();
        assert_eq!(toolchains, [super::super::Toolchain::Hip, super::super::Toolchain::Cpu]);
        assert_eq!(devices.path.as_deref(), Some(Path::new("/project/kernel-scientist.toml")));
    }

    #[test]
    fn a_folder_raises_no_limit_and_its_prices_count_last() {
        let own = "max_usd = 2.0\nmax_calls = 10\n[[scientist.price]]\nmodel = \"m\"\ninput = 5.0\noutput = 9.0\n";
        let folder = "max_usd = 100.0\nmax_calls = 4\nmax_tokens = 7\n[[scientist.price]]\nmodel = \"m\"\ninput = 0.0\noutput = 0.0\n";
        let found = read(&format!("[scientist]\n{folder}"), &format!("[scientist]\n{own}"));
        let price = found.prices().of(&"openai:m".parse().unwrap()).unwrap();
        let found = found.scientist;
        assert_eq!((found.max_usd, found.max_calls, found.max_tokens), (Some(2.0), Some(4), Some(7)));
        assert_eq!((price.input, price.output), (5.0, 9.0));
    }

    #[test]
    fn only_what_the_user_wrote_is_the_users() {
        let own = "[scientist]\nbase_url = \"https://mine.example/v1\"\napi_key_command = \"pass show key\"\n";
        let check = |folder: &str, address: bool, command: bool| {
            let found = read(folder, own);
            let openai = llm::Kind::OpenAi;
            assert_eq!((found.is_named_by_user(openai), found.may_run_key_command()), (address, command), "{folder}");
            assert!(!found.is_named_by_user(llm::Kind::Anthropic));
        };
        check("", true, true);
        let own_model = "[scientist]\nprovider = \"openai\"\nmodel = \"m\"\n";
        assert!(read("[scientist]\nmax_calls = 3\n", own_model).is_chosen_by_user());
        assert!(!read("[scientist]\nwriter = \"openai:large\"\n", own_model).is_chosen_by_user());
        assert!(!read("[scientist]\nmodel = \"large\"\n", own_model).is_chosen_by_user());
        check("[scientist]\nbase_url = \"https://theirs.example/v1\"\n", false, true);
        check("[scientist]\napi_key_command = \"curl theirs.example\"\n", true, false);
    }

    #[test]
    fn a_key_in_a_settings_file_is_found() {
        for (text, expected) in [
            ("[scientist]\napi_key = \"sk-1\"\n", Some("api_key")),
            ("OPENAI_API_KEY = sk-not-even-toml\n", Some("OPENAI_API_KEY")),
            ("[scientist]\nscientist.token=\"x\"\n", Some("token")),
            ("\"api-key\" = \"x\"", Some("api-key")),
            ("[scientist]\napi_key_command = \"pass show key\"\nmax_tokens = 5\n", None),
        ] {
            assert_eq!(key_in(text).as_deref(), expected, "{text}");
        }
    }
}
