//! As client.mjs, with the SDK of Rust.
use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::*,
    service::{Peer, RequestContext, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use std::{env::var, time::{Duration, Instant}};
use tokio::{task::JoinSet, time::{sleep, timeout}};

#[derive(Clone)]
struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientInfo {
        let mut info = ClientInfo::default();
        info.capabilities = serde_json::from_value(json!({ "elicitation": {} })).unwrap();
        info
    }

    async fn create_elicitation(&self, _: ElicitRequestParams, _: RequestContext<RoleClient>) -> Result<ElicitResult, ErrorData> {
        Ok(serde_json::from_value(json!({ "action": "accept", "content": { "answer": "yes" } })).unwrap())
    }
}

fn print(name: &str, from: Instant, said: Result<String, String>) {
    let (ok, out) = match said {
        Ok(out) => (true, out),
        Err(error) => (false, error.chars().take(300).collect()),
    };
    println!("{}", json!({ "step": name, "ms": from.elapsed().as_millis() as u64, "ok": ok, "out": out }));
}

async fn call(peer: &Peer<RoleClient>, name: &str, args: Value) -> Result<String, String> {
    let params: CallToolRequestParams = serde_json::from_value(json!({ "name": name, "arguments": args })).unwrap();
    let limit = Duration::from_secs_f64(var("LIMIT").unwrap().parse().unwrap());
    let result = timeout(limit, peer.call_tool(params)).await.map_err(|_| "too late")?.map_err(|error| error.to_string())?;
    let value = serde_json::to_value(&result).unwrap();
    let text = value["content"][0]["text"].as_str().unwrap_or("");
    if text.len() > 300 {
        return Ok(text.len().to_string());
    }
    Ok(if value["isError"] == json!(true) { format!("error: {text}") } else { text.to_string() })
}

async fn at_once(peer: &Peer<RoleClient>, count: usize, is_cancelled: bool) -> usize {
    let mut set = JoinSet::new();
    for i in 0..count {
        let peer = peer.clone();
        set.spawn(async move {
            if is_cancelled {
                return timeout(Duration::from_millis(200), call(&peer, "slow", json!({ "seconds": 20 }))).await.is_err();
            }
            let text = format!("n{i}");
            call(&peer, "echo", json!({ "text": text })).await == Ok(text)
        });
    }
    set.join_all().await.into_iter().filter(|good| *good).count()
}

async fn work(service: &RunningService<RoleClient, Handler>, kind: &str, rest: &[Value]) -> Result<String, String> {
    let peer = service.peer();
    match kind {
        "list" => peer.list_all_tools().await.map(|tools| tools.len().to_string()).map_err(|error| error.to_string()),
        "call" => call(peer, rest[0].as_str().unwrap(), rest.get(1).cloned().unwrap_or(json!({}))).await,
        "cancel" => {
            let mut cancelled = 0;
            let mut left = rest[0].as_u64().unwrap() as usize;
            while left > 0 {
                cancelled += at_once(peer, left.min(50), true).await;
                left -= left.min(50);
            }
            Ok(cancelled.to_string())
        }
        "many" => Ok(at_once(peer, rest[0].as_u64().unwrap() as usize, false).await.to_string()),
        _ => {
            sleep(Duration::from_secs_f64(rest[0].as_f64().unwrap())).await;
            Ok(String::new())
        }
    }
}

#[tokio::main]
async fn main() {
    let steps: Vec<Vec<Value>> = serde_json::from_str(&var("STEPS").unwrap()).unwrap();
    let from = Instant::now();
    let connected = match var("URL") {
        Ok(address) => Handler.serve(StreamableHttpClientTransport::from_uri(address)).await.map_err(|error| error.to_string()),
        Err(_) => {
            let command: Vec<String> = serde_json::from_str(&var("COMMAND").unwrap()).unwrap();
            let mut program = tokio::process::Command::new(&command[0]);
            program.args(&command[1..]);
            Handler.serve(TokioChildProcess::new(program).unwrap()).await.map_err(|error| error.to_string())
        }
    };
    let service = match connected {
        Ok(service) => service,
        Err(error) => return print("connect", from, Err(error)),
    };
    print("connect", from, Ok(String::new()));
    for step in &steps {
        let from = Instant::now();
        print(step[0].as_str().unwrap(), from, work(&service, step[1].as_str().unwrap(), &step[2..]).await);
    }
    let from = Instant::now();
    print("close", from, service.cancel().await.map(|_| String::new()).map_err(|error| error.to_string()));
}
