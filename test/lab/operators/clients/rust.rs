use ori_client::apis::{configuration::Configuration, guardrails_api, interns_api};
use ori_client::models::{GuardrailCreate, guardrail_create::ResetInterval};
use std::env::var;

fn of(key: &str) -> Configuration {
    let base_path = var("ORI_BASE_URL").unwrap();
    Configuration { base_path, bearer_access_token: var(key).ok(), ..Default::default() }
}

#[tokio::main]
async fn main() {
    let interns = interns_api::list_interns(&of("ORI_API_KEY"), None, None, None, None).await.unwrap();
    let names: Vec<_> = interns.data.into_iter().map(|each| each.name).collect();
    println!("lists {}", names.join(","));
    let mut wanted = GuardrailCreate::new("made".into());
    wanted.limit_usd = Some(Some(5.0));
    wanted.reset_interval = Some(Some(ResetInterval::Daily));
    let management = of("ORI_MANAGEMENT_KEY");
    let made = guardrails_api::create_guardrail(&management, wanted, None, None, None, None).await.unwrap();
    println!("creates {} {:?} {:?}", made.data.name, made.data.reset_interval, made.data.description);
}
