import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export interface Candidate {
  readonly name: string;
  readonly description?: string;
}

/** The scripts ask `ori` itself what may follow the words before the cursor; where that is nothing, shells offer files. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion of ori: source <(ori completion bash)
_ori() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(compgen -W "$(command ori completion bash -- "\${words[@]}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ori ori
`,
  zsh: `#compdef ori
# zsh completion of ori: source <(ori completion zsh)
_ori() {
  local -a candidates
  candidates=(\${(f)"$(command ori completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  _describe ori candidates
  _files
}
compdef _ori ori
`,
  fish: `# fish completion of ori: ori completion fish | source
complete -c ori -a '(command ori completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
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

/** What may follow the words below `program`: commands, values of an argument, and options. */
export function candidatesAfter(program: Command, words: readonly string[]): Candidate[] {
  let command = program;
  for (const word of words) command = subcommandOf(command, word) ?? command;
  const isLeaf = command.commands.length === 0;
  const options = [...command.options, ...(isLeaf ? program.options : [])];
  return [
    ...command.commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((name) => ({ name, description })),
    ),
    ...options.flatMap(({ short, long, description }) =>
      [short, long].flatMap((name) => (name ? [{ name, description }] : [])),
    ),
  ];
}

export function subcommandOf(command: Command, name: string): Command | undefined {
  return command.commands.find((sub) => sub.name() === name || sub.aliases().includes(name));
}
