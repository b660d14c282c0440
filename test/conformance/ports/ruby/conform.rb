# frozen_string_literal: true

# The verifier behind the conformance protocol: one command and one answer per line (test/conformance/README.md).

require_relative "oriproof"

NAMES = { "internId" => :intern_id, "maxAgeSeconds" => :max_age, "clockToleranceSeconds" => :tolerance,
          "acceptV1" => :accept_v1, "contentType" => :content_type }.freeze

# A memory store that can be replaced by an empty one.
class Losable
  def initialize(clock)
    @clock, @attached = clock, []
  end

  def lose(forget_verifiers: false)
    @attached.clear if forget_verifiers
    @store = OriProof::MemoryStore.new(clock: @clock)
    @attached.each { |verifier| @store.attach(verifier) }
  end

  def attach(verifier)
    @attached << verifier
    @store.attach(verifier)
  end

  def spend(...) = @store.spend(...)
end

$clock = { verifier: 0, store: 0 }
$store = Losable.new(-> { $clock[:store] })
$keys = OriProof::LocalKeys.new([])
$begun = {}

def latin(text) = text.encode("ISO-8859-1").b

def start(request)
  headers = request["rawHeaders"].map { |text| latin(text) }
  $verifier.begin(latin(request["method"]), latin(request["target"]), headers.each_slice(2).to_a)
end

def finish(proof, body)
  proof.update(body.unpack1("m0"))
  { verdict: "ok", proof: proof.finish }
end

def present(request)
  finish(start(request), request["bodyBase64"])
rescue OriProof::Refused => e
  refusal(e)
end

def refusal(refused) = { verdict: refused.code, retryAfterSeconds: refused.retry_after }.compact

def use(options)
  given = options.to_h { |name, value| [NAMES.fetch(name), value] }
  $verifier = OriProof::Verifier.new(keys: $keys, store: $store, clock: -> { $clock[:verifier] }, **given)
end

def answer(command)
  now = command["now"] || command["storeSince"]
  $clock = { verifier: now.to_r, store: command.fetch("storeNow", now).to_r } if now
  case command["do"]
  when "hello" then return { verdict: "ready", name: "Ruby port", features: ["store-clock"] }
  when "start"
    $begun.clear
    $store.lose(forget_verifiers: true)
    $keys.keys = OriProof.read_key_set(command["jwks"])
    use(command["verifier"])
  when "keys" then $keys.keys = OriProof.read_key_set(command["jwks"])
  when "verifier" then use(command["verifier"])
  when "restart" then $store.lose
  when "present" then return present(command)
  when "race"
    threads = command["requests"].map { |request| Thread.new { present(request) } }
    return { verdict: "done", verdicts: threads.map(&:value) }
  when "begin"
    $begun[command["request"]] = start(command)
    return { verdict: "continue" }
  when "body"
    $begun[command["request"]].update(command["bodyBase64"].unpack1("m0"))
    return { verdict: "continue" }
  when "finish" then return finish($begun.delete(command["request"]), command["bodyBase64"])
  end
  { verdict: "done" }
end

$stdout.sync = true
$stdin.each_line do |line|
  said = begin
    answer(JSON.parse(line))
  rescue OriProof::Refused => e
    refusal(e)
  rescue ArgumentError
    { verdict: "refused" }
  end
  puts JSON.generate(said)
end
