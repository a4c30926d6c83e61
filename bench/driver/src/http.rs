//! `exacta-bench http`: the least that an HTTP server of the same make can do, to compare `exacta serve` with. It says where it
//! listens and answers every POST with a small JSON text.

use std::error::Error;

use axum::Router;
use axum::routing::post;

pub fn serve() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?.port());
        let answer = post(async || axum::Json(serde_json::json!({ "stdout": "hi\n" })));
        axum::serve(listener, Router::new().route("/v1/run", answer)).await?;
        Ok(())
    })
}
