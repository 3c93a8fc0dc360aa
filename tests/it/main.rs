//! The integration tests, in one program: each file more would link the whole library again.

#![expect(clippy::print_stdout, reason = "figures for those who run a test with --nocapture")]
#![allow(clippy::too_many_lines, reason = "a test is read from top to bottom")]

mod adaptive_run;
mod agents;
mod annotate_command;
mod article_points;
mod ask_command;
mod bad_input;
mod branch_command;
#[cfg(unix)]
mod browser;
mod budget;
mod common;
mod compare_amounts;
mod compare_command;
mod compare_support;
mod compare_tables;
#[cfg(unix)]
mod corpus_command;
mod corpus_packs;
#[cfg(feature = "parquet")]
mod corpus_parquet;
mod corpus_zim;
mod dataset_command;
mod dataset_files;
mod dead_servers;
mod demo_command;
mod effort;
#[cfg(unix)]
mod ends_of_runs;
mod experiment_run;
mod export_chat;
#[cfg(not(feature = "parquet"))]
mod export_command;
#[cfg(feature = "parquet")]
mod export_parquet;
mod export_traces;
mod finish_reasons;
#[cfg(unix)]
mod foreign_folder;
#[cfg(feature = "index")]
mod freeze_command;
mod given_sentences;
mod holdout;
mod hostile_text;
mod import_inspect;
mod import_notebook;
mod judge;
mod key_leaks;
#[cfg(all(unix, feature = "mcp"))]
mod mcp_command;
mod merge;
mod metric_command;
mod mock_run;
mod models_today;
mod named_files;
mod output_files;
mod parse_command;
mod prompt_command;
mod replay;
mod report_command;
mod report_figures;
#[cfg(unix)]
mod report_page;
mod repository;
mod reproduce_command;
mod request_settings;
mod robust_protocol;
mod schemas;
mod score_files;
mod score_run;
#[cfg(all(unix, feature = "serve"))]
mod serve_command;
#[cfg(all(unix, feature = "serve"))]
mod serve_support;
mod shards;
mod show_command;
mod snapshots;
mod statistics_golden;
mod stop_when;
mod tape_command;
mod terminal_share;
mod trajectory_metrics;
mod transcripts;
mod variant_run;
#[cfg(all(unix, feature = "serve"))]
mod view_command;
mod wiki_golden;
mod wiki_sources;
mod wiki_support;
