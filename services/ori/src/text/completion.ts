/** A command, or a group of commands, for the completion. */
export interface Completable {
  /** The names below `ori`; empty for `ori` itself. */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly { readonly flags: readonly string[]; readonly description: string }[];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Prints the names of the profiles, without contacting a server. */
const PROFILES = `command ori profiles --json 2>/dev/null | grep -o '"name": *"[^"]*"' | cut -d'"' -f4`;

/**
 * The completion script for a shell: commands and options, in zsh and fish with descriptions; profiles behind
 * `--profile`, and files elsewhere.
 */
export function renderCompletion(shell: Shell, commands: readonly Completable[]): string {
  if (shell === 'fish') return renderFish(commands);
  const everywhere = commands.find(({ path }) => path.length === 0)?.options ?? [];
  const cases = commands.map(({ path, commands: below, options }) => {
    const flags = [...options, ...(below.length === 0 ? everywhere : [])].flatMap((option) =>
      option.flags.map((name) => ({ name, description: option.description })),
    );
    const words = [...new Map([...below, ...flags].map((word) => [word.name, word])).values()];
    const candidates = words.map(({ name, description }) =>
      shell === 'bash' ? name : quoted(`${name}:${description}`),
    );
    return `    ${quoted(path.map((part) => ` ${part}`).join(''))}) candidates=(${candidates.join(' ')}) ;;`;
  });
  return (shell === 'bash' ? BASH : ZSH)
    .replace('@PATHS@', pathsOf(commands))
    .replace('@CASES@', () => cases.join('\n'));
}

/** A pattern of the shell for the commands below `ori`. */
function pathsOf(commands: readonly Completable[]): string {
  const below = commands.filter(({ path }) => path.length > 0);
  return below.map(({ path }) => quoted(` ${path.join(' ')}`)).join('|');
}

const WALK = `  for word in @WORDS@; do
    case "$at $word" in @PATHS@) at="$at $word" ;; esac
  done
  case "$at" in
@CASES@
  esac`;

const walk = (words: string) => WALK.replace('@WORDS@', words);

const BASH = `# bash completion of ori: source <(ori completion bash)
_ori() {
  local word at= candidates current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "\${COMP_WORDS[COMP_CWORD-1]}" = --profile ]; then
    COMPREPLY=($(compgen -W "$(${PROFILES})" -- "$current"))
    return
  fi
${walk(`"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  COMPREPLY=($(compgen -W "\${candidates[*]}" -- "$current"))
}
complete -o default -F _ori ori
`;

const ZSH = `#compdef ori
# zsh completion of ori: source <(ori completion zsh)
_ori() {
  local word at=
  local -a candidates
  if [ "$words[CURRENT-1]" = --profile ]; then
    compadd -- $(${PROFILES})
    return
  fi
${walk(`"\${(@)words[2,CURRENT-1]}"`)}
  _describe ori candidates
  _files
}
compdef _ori ori
`;

function renderFish(commands: readonly Completable[]): string {
  const lines = ['# fish completion of ori: ori completion fish | source'];
  for (const { path, commands: below, options } of commands) {
    const names = below.map(({ name }) => name).join(' ');
    const seen = path.map((part) => `__fish_seen_subcommand_from ${part}`);
    const here = path.length === 0 ? ['__fish_use_subcommand'] : seen;
    const open =
      names === '' || path.length === 0 ? here : [...here, `not __fish_seen_subcommand_from ${names}`];
    const condition = quoted(open.join('; and '));
    for (const { name, description } of below)
      lines.push(`complete -c ori -f -n ${condition} -a ${name} -d ${quoted(description)}`);
    const scope = path.length === 0 ? '' : ` -n ${condition}`;
    for (const { flags, description } of options) {
      const values = flags.includes('--profile') ? ` -x -a ${quoted(`(${PROFILES})`)}` : '';
      lines.push(
        `complete -c ori${scope} ${flags.map(fishFlag).join(' ')} -d ${quoted(description)}${values}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function fishFlag(flag: string): string {
  return flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
}

function quoted(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}
