//! Tests of the server: features on marked-up texts, and the whole server over pipes within the process.

mod configuration;
mod documents;
mod editor;
mod features;
mod forecasting;
mod forecasts;
mod guards;
mod jobs;
mod marks;
mod models;
mod offers;
mod panel;
mod protocol;
mod trust;
mod typescript;
