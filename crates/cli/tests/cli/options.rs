//! The options as a table: each option of each command, and what shows that it is heard. The settings of runs stand in
//! `settings.rs`, and `ways.rs` has the ways of running in which they and others are heard.
//!
//! An option without a row fails these tests, and so does an option that takes a number and has no limits in
//! `limits.rs`.

use crate::exit_codes::{commands, copy_accepted};
use crate::limits;
use crate::settings::is_setting;
use crate::support::{Answer, answer, has_test, octopus, run};
use std::collections::BTreeSet;
use std::path::Path;

/// What shows that an option is heard.
enum Shown {
    /// A command line, the option with its value, and words of the answer that are missing without the option.
    Says(&'static str, &'static str, &'static str),
    /// Another test, by its file and its name; the file has the option.
    In(&'static str, &'static str),
}
use Shown::{In, Says};

const SAMPLE: &str = "sample hierarchical-normal --groups 6 --draws 50 --tune 50 --device cpu --force --out {}/x -vv";
const CALIBRATE: &str = "calibrate eight-schools --datasets 2 --chains 2 --draws 60 --tune 80 --device cpu --force \
                         --out {}/ranks -v";
const SWEEP: &str = "sweep eight-schools --seeds 2 --draws 60 --tune 60 -v";
const VALIDATE: &str = "validate eight-schools --quick --stages compare --device cpu --quiet --out {}/report -v";

#[rustfmt::skip]
const TABLE: &[(&str, &str, Shown)] = &[
    ("", "--json", In("commands.rs", "sample_diagnose_plot_and_export")),
    ("", "--quiet", In("logging.rs", "stderr_has_what_is_asked_for")),
    ("", "--verbose", Says("sample eight-schools --dry-run --device cpu", "--verbose", "info: the device is chosen")),
    ("", "--log-file", In("logging.rs", "a_log_file_has_an_object_on_each_line")),

    ("", "--profile", In("profile.rs", "a_profile_has_what_was_done_when")),

    ("verify", "--device", In("software_gpu.rs", "one_of_two_devices")),
    ("verify", "--no-deep", In("software_gpu.rs", "a_sound_gpu_is_fit_and_says_that_it_is_a_double")),
    ("verify", "--small", In("software_gpu.rs", "verify_as_json_has_every_check_once")),
    ("verify", "--report", In("software_gpu.rs", "the_report_tells_nobody_who_or_where")),

    ("device-watch", "--every", In("software_gpu.rs", "a_device_is_watched")),
    ("device-watch", "--count", In("software_gpu.rs", "a_device_is_watched")),
    ("bench-list", "--peers", In("suites.rs", "frameworks_are_found_and_set_up")),
    ("bench-setup", "--peers", In("suites.rs", "frameworks_are_found_and_set_up")),
    ("bench-run", "--peers", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-run", "--frameworks", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-run", "--repeats", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-run", "--data-size", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-run", "--n-particles", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-run", "--device", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-run", "--export-data", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-run", "--part", In("suites.rs", "parts_of_a_suite_are_put_together")),
    ("bench-run", "--out", In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench-plot", "--plot-type", In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench-plot", "--methods", In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench-plot", "--page", In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench-plot", "--out", In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench-plot", "--format", In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench-compare", "--force", In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench-export", "--format", In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench-test", "--frameworks", In("suites.rs", "every_suite_works_in_small")),
    ("bench-test", "--peers", In("suites.rs", "every_suite_works_in_small")),
    ("device-measure", "--device", In("software_gpu.rs", "each_command_measures_the_device_that_it_is_told")),
    ("device-measure", "--cache", In("software_gpu.rs", "benchmarks_and_calibrations_of_a_double_say_so")),
    ("device-warm", "--device", In("software_gpu.rs", "each_command_measures_the_device_that_it_is_told")),
    ("device-warm", "--model", In("software_gpu.rs", "kernels_are_compiled_ahead")),
    ("device-warm", "--precision", In("software_gpu.rs", "kernels_are_compiled_ahead")),
    ("device-warm", "--kernel-cache", In("software_gpu.rs", "kernels_are_compiled_ahead")),
    ("device-exact", "--device", In("software_gpu.rs", "one_of_two_devices")),
    ("device-exact", "--runs", In("gpu_sampler.rs", "small_runs_are_exact_and_as_recorded")),
    ("device-exact", "--small", In("gpu_sampler.rs", "small_runs_are_exact_and_as_recorded")),
    ("device-exact", "--expected", In("software_gpu.rs", "every_kernel_is_exact_and_as_recorded")),
    ("device-exact", "--record", In("software_gpu.rs", "every_kernel_is_exact_and_as_recorded")),
    ("device-sampler", "--device", In("software_gpu.rs", "each_command_measures_the_device_that_it_is_told")),
    ("device-sampler", "--small", In("software_gpu.rs", "each_command_measures_the_device_that_it_is_told")),
    ("device-sampler", "--seconds", In("gpu_sampler.rs", "the_sampler_s_figures_are_there_and_say_that_they_are_none")),
    ("device-sampler", "--out", In("gpu_sampler.rs", "the_sampler_s_figures_are_there_and_say_that_they_are_none")),
    ("device-accept", "--reports", Says("device accept {}/accepted", "--reports {}/reports", "/reports/")),

    ("sample", "--out", In("commands.rs", "sample_diagnose_plot_and_export")),
    ("sample", "--force", In("folders.rs", "a_run_is_replaced_only_by_force")),
    ("sample", "--dry-run", Says(SAMPLE, "--dry-run", "dry run: nothing is sampled")),
    ("sample", "--config", In("settings.rs", "a_file_says_what_options_say_and_options_come_first")),
    ("sample", "--init", In("starts.rs", "chains_start_where_they_are_told")),
    ("sample", "--keep-warmup", Says(SAMPLE, "--keep-warmup", "x/warmup/part-00000.parquet")),
    ("sample", "--checkpoint-every", Says(SAMPLE, "--checkpoint-every 7", "a checkpoint is written, iterations 7\n")),
    ("sample", "--data", In("batch.rs", "a_folder_of_data_sets_is_sampled_and_one_that_fails_ends_alone")),
    ("sample", "--group", In("commands.rs", "the_users_own_labels_and_a_settings_file")),
    ("sample", "--value", In("commands.rs", "the_users_own_labels_and_a_settings_file")),
    ("sample", "--drop-missing", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("sample", "--decimal", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("sample", "--batch", In("batch.rs", "a_folder_of_data_sets_is_sampled_and_one_that_fails_ends_alone")),
    ("sample", "--batch-by", In("batch.rs", "one_table_of_many_data_sets")),
    ("sample", "--part", In("batch.rs", "parts_of_a_batch_are_the_batch")),
    ("sample", "--claim", In("sharing.rs", "data_sets_are_claimed_by_processes_that_are_killed")),
    ("sample", "--lease", In("sharing.rs", "data_sets_are_claimed_by_processes_that_are_killed")),
    ("sweep", "--part", In("sharing.rs", "parts_of_a_sweep_are_the_sweep")),
    ("sweep", "--claim", In("sharing.rs", "parts_of_a_sweep_are_the_sweep")),
    ("sweep", "--lease", In("sharing.rs", "parts_of_a_sweep_are_the_sweep")),
    ("sweep", "--keep", In("sharing.rs", "parts_of_a_sweep_are_the_sweep")),
    ("calibrate", "--part", In("sharing.rs", "parts_of_a_calibration_are_the_calibration")),
    ("calibrate", "--claim", In("sharing.rs", "parts_of_a_calibration_are_the_calibration")),
    ("calibrate", "--lease", In("sharing.rs", "parts_of_a_calibration_are_the_calibration")),
    ("status", "--wait", In("sharing.rs", "parts_of_a_sweep_are_the_sweep")),
    ("submit", "--slurm", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--pbs", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--kubernetes", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--parts", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--threads", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--memory", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--minutes", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--gpus", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--image", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--volume", In("submitted.rs", "scripts_say_what_is_asked")),
    ("submit", "--run", In("submitted.rs", "what_is_run_goes_to_the_scheduler")),
    ("sample", "--precision", In("gpu_sampling.rs", "other_precisions_run_on_gpus_only")),
    ("sample", "--algorithm", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sample", "--leapfrogs", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sample", "--step-size", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sample", "--length", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sample", "--jitter", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sample", "--max-error", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sample", "--max-halvings", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sample", "--particles", In("algorithms.rs", "a_population_goes_every_way")),
    ("sample", "--proposal", In("algorithms.rs", "a_population_goes_every_way")),
    ("sample", "--degrees", In("algorithms.rs", "a_population_goes_every_way")),
    ("sample", "--ess-share", In("algorithms.rs", "a_population_goes_every_way")),
    ("sample", "--paths", In("algorithms.rs", "a_population_goes_every_way")),
    ("sample", "--elbo-draws", In("algorithms.rs", "a_population_goes_every_way")),
    ("sample", "--draws-per-path", In("algorithms.rs", "a_population_goes_every_way")),
    ("sample", "--target-ess", In("strategies.rs", "a_run_ends_at_its_goal_and_always_there")),
    ("sample", "--target-rhat", In("strategies.rs", "a_run_ends_at_its_goal_and_always_there")),
    ("sample", "--max-seconds", In("strategies.rs", "a_goal_that_is_not_reached_is_said")),
    ("sample", "--device", In("gpu_sampling.rs", "a_gpu_gives_the_draws_of_the_cpu_and_the_record_tells_what_it_used")),
    ("sample", "--gpu-memory", In("gpu_sampling.rs", "the_memory_taken_of_a_gpu_is_limited")),
    ("sample", "--no-fallback", In("gpu_faults.rs", "no_fallback_is_heard_by_each_command")),
    ("sample", "--threads", Says(SAMPLE, "--threads 5", "threads 5")),

    ("resume", "--no-fallback", In("gpu_fallback.rs", "a_resumed_run_goes_on_on_the_cpu_too")),
    ("resume", "--device", In("gpu_sampling.rs", "kill_9_on_a_gpu_and_resume_on_either_device")),
    ("resume", "--threads", In("settings.rs", "resume_takes_every_setting_from_the_record")),
    ("resume", "--checkpoint-every", In("settings.rs", "resume_takes_every_setting_from_the_record")),

    ("diagnose", "--all", Says("diagnose {}/wide", "--all", "\nz[10] ")),
    ("diagnose", "--prob", Says("diagnose {}/wide", "--prob 0.5", "hdi_75%")),

    ("plot", "--out", In("commands.rs", "sample_diagnose_plot_and_export")),
    ("plot", "--kind", In("commands.rs", "sample_diagnose_plot_and_export")),
    ("plot", "--var", In("commands.rs", "sample_diagnose_plot_and_export")),
    ("plot", "--format", In("commands.rs", "sample_diagnose_plot_and_export")),

    ("compare", "--out", In("compare.rs", "runs_of_one_posterior_are_the_same")),
    ("compare", "--all", Says("compare {}/wide {}/other", "--all", "\n  sigma_obs ")),
    ("compare", "--max-mean", Says("compare {}/wide {}/other", "--max-mean 1e9", "PASS     means")),
    ("compare", "--max-sd", Says("compare {}/wide {}/other", "--max-sd 1e9", "PASS     sds")),
    ("compare", "--alpha", Says("compare {}/wide {}/other", "--alpha 0", "PASS     chance")),

    ("loo", "--waic", Says("loo {}/wide", "--waic", "elpd_waic")),
    ("loo", "--var", Says("loo {}/wide", "--var nu", "there is no variable `nu`; there are: y")),
    ("loo", "--weights", In("loo.rs", "models_are_weighed_as_asked")),
    ("loo", "--draws", Says("loo {}/wide", "--draws 20", "80 samples of")),

    ("evidence", "--draws", Says("evidence {}/wide", "--draws 20", "80 draws")),
    ("evidence", "--seed", In("evidence.rs", "evidence_of_runs_is_the_librarys_and_models_are_compared")),

    ("calibrate", "--out", In("calibrate.rs", "ranks_in_one_go_or_two_are_the_same")),
    ("calibrate", "--config", In("settings.rs", "a_calibration_has_every_setting")),
    ("calibrate", "--force", In("calibrate.rs", "ranks_in_one_go_or_two_are_the_same")),
    ("calibrate", "--datasets", In("calibrate.rs", "ranks_in_one_go_or_two_are_the_same")),
    ("calibrate", "--kept", Says(CALIBRATE, "--kept 7", "7 draws kept of each")),
    ("calibrate", "--geweke", In("calibrate.rs", "geweke_needs_draws_to_decide")),
    ("calibrate", "--sequences", In("calibrate.rs", "geweke_needs_draws_to_decide")),
    ("calibrate", "--steps", In("calibrate.rs", "geweke_needs_draws_to_decide")),
    ("calibrate", "--false-alarm", Says(CALIBRATE, "--false-alarm 0.25", "together: 0.25 at most")),
    ("calibrate", "--format", In("calibrate.rs", "ranks_in_one_go_or_two_are_the_same")),
    ("calibrate", "--algorithm", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("calibrate", "--leapfrogs", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("calibrate", "--step-size", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("calibrate", "--length", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("calibrate", "--jitter", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("calibrate", "--max-error", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("calibrate", "--max-halvings", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("calibrate", "--particles", In("algorithms.rs", "a_population_goes_every_way")),
    ("calibrate", "--proposal", In("algorithms.rs", "a_population_goes_every_way")),
    ("calibrate", "--degrees", In("algorithms.rs", "a_population_goes_every_way")),
    ("calibrate", "--ess-share", In("algorithms.rs", "a_population_goes_every_way")),
    ("calibrate", "--paths", In("algorithms.rs", "a_population_goes_every_way")),
    ("calibrate", "--elbo-draws", In("algorithms.rs", "a_population_goes_every_way")),
    ("calibrate", "--draws-per-path", In("algorithms.rs", "a_population_goes_every_way")),
    ("calibrate", "--precision", In("calibrate.rs", "options_without_sense_are_named")),
    ("calibrate", "--device", In("calibrate.rs", "a_gpu_gives_the_ranks_of_the_cpu")),
    ("calibrate", "--gpu-memory", In("gpu_sampling.rs", "the_memory_taken_of_a_gpu_is_limited")),
    ("calibrate", "--no-fallback", In("gpu_faults.rs", "no_fallback_is_heard_by_each_command")),
    ("calibrate", "--threads", Says(CALIBRATE, "--threads 5", "threads 5")),
    ("calibrate", "--program", In("programs.rs", "a_program_is_calibrated")),
    ("calibrate", "--set", In("programs.rs", "a_program_is_calibrated")),
    ("calibrate", "--data", In("programs.rs", "a_program_is_calibrated")),
    ("calibrate", "--simulator", In("programs.rs", "a_program_is_calibrated")),
    ("calibrate", "--group-sizes", In("calibrate.rs", "ranks_in_one_go_or_two_are_the_same")),

    ("check", "--config", In("own_model.rs", "a_wrong_gradient_is_named_and_refused")),
    ("check", "--data", In("commands.rs", "a_model_is_checked_with_its_data")),
    ("check", "--group", In("commands.rs", "a_model_is_checked_with_its_data")),
    ("check", "--value", In("commands.rs", "a_model_is_checked_with_its_data")),
    ("check", "--drop-missing", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("check", "--decimal", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("sweep", "--algorithm", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sweep", "--leapfrogs", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sweep", "--step-size", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sweep", "--length", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sweep", "--jitter", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sweep", "--max-error", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sweep", "--max-halvings", In("algorithms.rs", "a_sampler_goes_every_way")),
    ("sweep", "--particles", In("algorithms.rs", "a_population_goes_every_way")),
    ("sweep", "--proposal", In("algorithms.rs", "a_population_goes_every_way")),
    ("sweep", "--degrees", In("algorithms.rs", "a_population_goes_every_way")),
    ("sweep", "--ess-share", In("algorithms.rs", "a_population_goes_every_way")),
    ("sweep", "--paths", In("algorithms.rs", "a_population_goes_every_way")),
    ("sweep", "--elbo-draws", In("algorithms.rs", "a_population_goes_every_way")),
    ("sweep", "--draws-per-path", In("algorithms.rs", "a_population_goes_every_way")),
    ("sweep", "--seeds", In("settings.rs", "a_sweep_runs_what_sample_runs")),
    ("sweep", "--out", In("settings.rs", "a_sweep_runs_what_sample_runs")),
    ("sweep", "--config", In("settings.rs", "a_sweep_runs_what_sample_runs")),
    ("sweep", "--data", In("settings.rs", "a_sweep_runs_what_sample_runs")),
    ("sweep", "--group", In("settings.rs", "a_sweep_runs_what_sample_runs")),
    ("sweep", "--value", In("settings.rs", "a_sweep_runs_what_sample_runs")),
    ("sweep", "--drop-missing", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("sweep", "--decimal", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("sweep", "--precision", In("bad_input.rs", "f32_and_mixed_are_for_gpus")),
    ("sweep", "--threads", Says(SWEEP, "--threads 5", "threads 5")),

    ("sample", "--program", In("programs.rs", "a_program_goes_every_way")),
    ("sample", "--set", In("programs.rs", "a_program_goes_every_way")),
    ("check", "--program", In("programs.rs", "a_program_goes_every_way")),
    ("check", "--set", In("programs.rs", "a_program_goes_every_way")),
    ("sweep", "--program", In("programs.rs", "a_program_goes_every_way")),
    ("sweep", "--set", In("programs.rs", "a_program_goes_every_way")),
    ("validate", "--program", In("programs.rs", "a_program_goes_every_way")),
    ("validate", "--set", In("programs.rs", "a_program_goes_every_way")),
    ("model-check", "--data", In("programs.rs", "a_program_is_described_and_checked")),
    ("model-check", "--set", In("programs.rs", "a_program_is_described_and_checked")),
    ("model-show", "--data", In("programs.rs", "loops_and_costs_are_shown")),
    ("model-show", "--set", In("programs.rs", "loops_and_costs_are_shown")),

    ("random", "--n", In("random.rs", "draws_are_those_of_the_library_printed_or_in_a_file")),
    ("random", "--out", In("random.rs", "draws_are_those_of_the_library_printed_or_in_a_file")),
    ("random", "--dtype", In("random.rs", "types_threads_and_memory_change_no_draw")),
    ("random", "--seed", In("random.rs", "draws_are_those_of_the_library_printed_or_in_a_file")),
    ("random", "--part", In("random.rs", "parts_of_the_draws_are_the_draws")),
    ("random", "--resume", In("random.rs", "what_was_interrupted_or_killed_goes_on_to_the_same_bytes")),
    ("random", "--force", In("random.rs", "a_file_is_replaced_only_by_force")),
    ("random", "--device", In("random.rs", "gpus_make_the_same_file")),
    ("random", "--memory", In("random.rs", "too_little_memory_is_told_before_a_file_is_begun")),
    ("random", "--threads", In("random.rs", "types_threads_and_memory_change_no_draw")),
    ("random", "--loc", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--direction", In("random.rs", "unit_vectors_are_rows_printed_or_in_a_file")),
    ("random", "--concentration", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--scale", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--shape", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--a", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--b", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--df", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--low", In("random.rs", "parameters_are_those_of_their_distribution")),
    ("random", "--high", In("random.rs", "parameters_are_those_of_their_distribution")),

    ("data-polynomial", "--n", In("data.rs", "data_are_those_of_the_library_printed_or_in_a_file")),
    ("data-polynomial", "--seed", In("data.rs", "data_are_those_of_the_library_printed_or_in_a_file")),
    ("data-polynomial", "--noise", In("data.rs", "data_are_those_of_the_library_printed_or_in_a_file")),
    ("data-polynomial", "--out", In("data.rs", "data_are_those_of_the_library_printed_or_in_a_file")),
    ("data-polynomial", "--force", In("data.rs", "data_are_those_of_the_library_printed_or_in_a_file")),

    ("export", "--to", In("formats.rs", "every_format_is_diagnosed_alike")),
    ("export", "--out", In("formats.rs", "every_format_is_diagnosed_alike")),
    ("export", "--force", In("folders.rs", "exports_do_not_overwrite_and_leave_nothing_half_written")),
    ("export", "--predictive", In("commands.rs", "sample_diagnose_plot_and_export")),
    ("export", "--prior", In("commands.rs", "sample_diagnose_plot_and_export")),

    ("predict", "--data", In("programs.rs", "new_rows_and_groups_are_predicted")),
    ("predict", "--set", In("programs.rs", "new_rows_and_groups_are_predicted")),
    ("predict", "--draws", In("programs.rs", "new_rows_and_groups_are_predicted")),
    ("predict", "--to", In("programs.rs", "new_rows_and_groups_are_predicted")),
    ("predict", "--out", In("programs.rs", "new_rows_and_groups_are_predicted")),
    ("predict", "--force", In("programs.rs", "new_rows_and_groups_are_predicted")),

    ("validate", "--out", In("validate.rs", "a_quick_validation_passes_and_leaves_every_deliverable")),
    ("validate", "--require-gpu", In("validate.rs", "a_quick_validation_passes_and_leaves_every_deliverable")),
    ("validate", "--peers", In("validate.rs", "other_frameworks_stand_in_the_report")),
    ("validate", "--quick", In("settings.rs", "a_validation_samples_what_sample_samples")),
    ("validate", "--stages", In("validate.rs", "stages_can_be_left_out")),
    ("validate", "--config", In("settings.rs", "a_validation_samples_what_sample_samples")),
    ("validate", "--data", In("validate.rs", "own_data_of_the_prds_model")),
    ("validate", "--group", In("validate.rs", "own_data_of_the_prds_model")),
    ("validate", "--value", In("validate.rs", "own_data_of_the_prds_model")),
    ("validate", "--drop-missing", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("validate", "--decimal", In("tables.rs", "how_a_table_is_read_goes_every_way")),
    ("validate", "--device", In("validate.rs", "a_validation_can_run_on_the_gpu_itself")),
    ("validate", "--gpu-memory", In("gpu_sampling.rs", "the_memory_taken_of_a_gpu_is_limited")),
    ("validate", "--no-fallback", In("gpu_faults.rs", "no_fallback_is_heard_by_each_command")),
    ("validate", "--threads", Says(VALIDATE, "--threads 5", "threads 5")),

    ("man", "--out", In("logging.rs", "each_command_has_a_manual_page")),
];

/// Fills a folder with what command lines of the table name and do not make themselves.
fn prepare(dir: &Path) {
    const SHORT: &str = "sample hierarchical-normal --draws 500 --tune 300 --device cpu --quiet --groups";
    run(dir, &format!("{SHORT} 20 --out {{}}/wide")).sampled();
    run(dir, &format!("{SHORT} 20 --data-seed 3 --out {{}}/other")).sampled();
    run(dir, &format!("{SHORT} 3 --out {{}}/run")).sampled();
    copy_accepted(&dir.join("accepted"));
}

/// Everything that is said.
fn said(answer: &Answer) -> String {
    format!("{}{}", answer.stdout, answer.stderr)
}

#[test]
fn every_option_is_heard() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let mut wrong = Vec::new();
    for (command, option, shown) in TABLE {
        match shown {
            Says(line, given, words) => {
                assert!(line.starts_with(&command.replace('-', " ")) && given.starts_with(option), "{line} {given}");
                let without = said(&run(dir.path(), line));
                let with = said(&run(dir.path(), &format!("{line} {given}")));
                if without.contains(words) || !with.contains(words) {
                    wrong.push(format!("octopus {line} [{given}], {words:?}:\n{without}\nbut with it\n{with}"));
                }
            }
            In(file, name) => {
                assert!(has_test(file, name, option), "{command} {option}: no test {name} with it in {file}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// An option as help shows it: its name, and the name of its value.
pub(crate) struct Listed {
    pub(crate) option: String,
    pub(crate) value: Option<String>,
}

/// The commands and their options, as their help has them.
pub(crate) fn listed() -> Vec<(String, Vec<Listed>)> {
    let options = |command: &String| {
        let words = command.split('-').filter(|word| !word.is_empty());
        let help = answer(octopus().args(words).arg("--help"));
        let option = |line: &str| {
            let line = line.trim_start();
            let at = if line.starts_with("--") { 0 } else { line.find(", --").filter(|at| *at == 2)? + 2 };
            let mut words = line[at..].trim_start().split([' ', '[', ']', '.']).filter(|word| !word.is_empty());
            let option = words.next().filter(|word| *word != "--help" && *word != "--version")?.to_owned();
            Some(Listed { option, value: words.next().and_then(|word| word.strip_prefix('<')).map(str::to_owned) })
        };
        (command.clone(), help.succeeds().stdout.lines().filter_map(option).collect())
    };
    commands().iter().filter(|command| !["device", "model"].contains(&command.as_str())).map(options).collect()
}

/// Whether the table has a row of this option, of this command or of all.
pub(crate) fn has_row(command: &str, option: &str) -> bool {
    let of = if GLOBAL.contains(&option) { "" } else { command };
    TABLE.iter().any(|(command, name, _)| *command == of && *name == option)
}

pub(crate) const GLOBAL: [&str; 5] = ["--json", "--quiet", "--verbose", "--log-file", "--profile"];

#[test]
fn every_option_has_its_row() {
    let listed = listed();
    let takes_settings = |command: &str| ["check", "sample", "sweep", "calibrate", "validate"].contains(&command);
    let mut missing = Vec::new();
    for (command, options) in &listed {
        for Listed { option, .. } in options {
            if !(has_row(command, option) || takes_settings(command) && is_setting(option)) {
                missing.push(format!("{command} {option}"));
            }
        }
    }
    assert!(missing.is_empty(), "the table needs rows of {missing:#?}");
    for (command, option, _) in TABLE {
        let known = listed.iter().any(|(of, options)| of == command && options.iter().any(|one| one.option == *option));
        assert!(known, "`octopus {command}` has no {option}");
    }
}

#[test]
fn every_number_has_its_limits() {
    /// Values that are no numbers; every other has limits.
    const WORDS: [&str; 23] = [
        "COL",
        "DEVICE",
        "DIR",
        "DIR|FILE",
        "DTYPE",
        "FILE",
        "FORMAT",
        "HOW|FILE|RUN",
        "K/N",
        "KIND",
        "MARK",
        "METRIC",
        "NAME",
        "NAME=VALUE",
        "PARAMETERIZATION",
        "PATH",
        "PRECISION",
        "PROPOSAL",
        "STAGES",
        "STRATEGY",
        "TO",
        "WEIGHTS",
        "likelihood",
    ];
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for (command, options) in listed() {
        for Listed { option, value } in options {
            let is_number = value.is_some_and(|value| !WORDS.contains(&value.trim_end_matches('>')));
            match limits::row(&command, &option) {
                Some(row) if is_number => {
                    used.insert((row.commands, row.option));
                    wrong.extend(limits::wrong(dir.path(), &command, row));
                }
                None if is_number => wrong.push(format!("the limits of {command} {option} are missing")),
                _ => {}
            }
        }
    }
    let all: BTreeSet<_> = limits::LIMITS.iter().map(|row| (row.commands, row.option)).collect();
    assert_eq!(used, all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
