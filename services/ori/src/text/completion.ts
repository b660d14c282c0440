import type { Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export interface Candidate {
  readonly name: string;
  readonly description?: string;
}

/** What packages install the command as, and the file of `npm run build`. */
const NAMES = 'ori ori-proof ori-linux-x64 ori-linux-arm64';

/** The scripts ask `ori` itself what may follow the words before the cursor; where that is nothing, shells offer files. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  // Not compgen -W, which expands its words: the names of interns come from a server.
  bash: `# bash completion of ori: source <(ori completion bash)
_ori() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == "\${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$line")
  done < <(command "$1" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _ori ${NAMES}
`,
  zsh: `#compdef ${NAMES}
# zsh completion of ori: source <(ori completion zsh)
_ori() {
  local -a candidates
  candidates=(\${(f)"$(command $words[1] completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#candidates )); then _describe ori candidates; else _files; fi
}
if [[ $funcstack[1] = _ori ]]; then _ori "$@"
elif (( $+functions[compdef] )); then compdef _ori ${NAMES}
else print -u2 'ori: zsh completes nothing before this: autoload -Uz compinit && compinit'; fi
`,
  fish: `# fish completion of ori: ori completion fish | source
function __ori
  set -l words (commandline -opc) (commandline -ct)
  set -l candidates (command $words[1] completion fish -- $words[2..] 2>/dev/null)
  if set -q candidates[1]; printf '%s\\n' $candidates; else; __fish_complete_path (commandline -ct); end
end
for name in ${NAMES}; complete -c $name -f -a '(__ori)'; end
`,
};

/** One line each. bash shows no descriptions. */
export function renderCandidates(shell: Shell, candidates: readonly Candidate[]): string {
  const separator = shell === 'zsh' ? ':' : '\t';
  const lines = candidates.map(({ name, description = '' }) =>
    shell === 'bash' ? `${name}\n` : `${name}${separator}${description}\n`,
  );
  return lines.join('');
}

/** What comes next on a command line: one of these, or a value of this name, such as `intern`. */
export interface Expected {
  readonly candidates: readonly Candidate[];
  /** The name of the argument or of the value of the option, if it has no list of values. */
  readonly value?: string;
}

/** What may follow the words below `program`; options where the word at the cursor begins with a dash. */
export function expectedAfter(program: Command, words: readonly string[], current: string): Expected {
  let command = program;
  let given = 0;
  let pending: Option | undefined;
  const known = () => [...command.options, ...(command === program ? [] : program.options)];
  for (const word of words) {
    const isValue = pending !== undefined;
    pending =
      isValue || !word.startsWith('-')
        ? undefined
        : known().find(({ short, long }) => word === short || word === long);
    if (pending !== undefined && !pending.required && !pending.optional) pending = undefined;
    if (isValue || word.startsWith('-')) continue;
    const below = subcommandOf(command, word);
    if (below === undefined) given += 1;
    else command = below;
  }
  if (pending !== undefined) return { candidates: [], value: /<(.*)>/.exec(pending.flags)?.[1] ?? '' };
  const { registeredArguments, commands } = command;
  const argument = registeredArguments[given] ?? registeredArguments.find(({ variadic }) => variadic);
  if (current.startsWith('-') || (commands.length === 0 && argument === undefined)) {
    return {
      candidates: known().flatMap(({ short, long, description }) =>
        [short, long].flatMap((name) => (name ? [{ name, description }] : [])),
      ),
    };
  }
  const candidates = [
    ...commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    ...(argument?.argChoices ?? []).map((name) => ({ name, description: argument?.description ?? '' })),
  ];
  return candidates.length > 0 || argument === undefined
    ? { candidates }
    : { candidates, value: argument.name() };
}

export function subcommandOf(command: Command, name: string): Command | undefined {
  return command.commands.find((sub) => sub.name() === name || sub.aliases().includes(name));
}
