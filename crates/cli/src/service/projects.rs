//! The projects that a door serves, each as the operator's command line would have it.

use std::path::{Path, PathBuf};

use exacta::audit::Trail;
use exacta::redaction::Rules;
use exacta::tasks::{Grounds, PlanningFailed};

use super::{Code, Problem};
use crate::invocation::Global;
use crate::launch::{self, Launch};
use crate::planner::{self, ChosenPlanner};
use crate::verbs::audit;

/// One of them.
#[derive(Debug, Clone)]
pub struct Project {
    pub root: PathBuf,
    global: Global,
}

impl Project {
    /// Read anew each time: rules and settings may have changed.
    pub fn launch(&self) -> Result<Launch, Problem> {
        Launch::new(&self.global).map_err(Problem::failed)
    }

    /// The record of what was done in it.
    pub fn trail(&self) -> Result<Trail, Problem> {
        audit::trail_of(&self.global).map_err(Problem::failed)
    }

    /// What its tasks stand on.
    pub fn grounds(&self) -> Result<Grounds, Problem> {
        launch::task_grounds(&self.global).map_err(Problem::failed)
    }

    /// Who makes plans of goals.
    pub fn planner(&self) -> Result<ChosenPlanner, PlanningFailed> {
        let failed = |problem: exacta::EngineError| PlanningFailed {
            message: problem.to_string(),
            hint: "`exacta doctor` says what is missing".to_owned(),
        };
        let configuration = launch::configuration(&self.global).map_err(failed)?;
        let allowed = planner::allowed(&configuration);
        planner::choose(&configuration, &self.root, allowed, Box::new(|_| {}))
    }

    /// What is not shown of what is in it.
    pub fn redaction(&self) -> Result<Rules, Problem> {
        let configuration = launch::configuration(&self.global).map_err(Problem::failed)?;
        Ok(launch::redaction(&configuration).rules().clone())
    }

    pub fn name(&self) -> String {
        let name = self.root.file_name().unwrap_or(self.root.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

pub struct Projects(Vec<Project>);

impl Projects {
    /// These directories; if there are none, the one that the command line is about.
    pub fn open(global: &Global, directories: &[PathBuf]) -> Result<Self, Problem> {
        let mut named: Vec<Global> = directories
            .iter()
            .map(|directory| Global { root: Some(directory.clone()), ..global.clone() })
            .collect();
        if named.is_empty() {
            named.push(global.clone());
        }
        let mut projects: Vec<Project> = Vec::new();
        for global in named {
            let root = launch::root(&global).map_err(Problem::failed)?;
            let global = Global { root: Some(root.clone()), json: true, ..global };
            // What cannot be loaded now is said now.
            Launch::new(&global).map_err(Problem::failed)?;
            if !projects.iter().any(|project| project.root == root) {
                projects.push(Project { root, global });
            }
        }
        Ok(Projects(projects))
    }

    pub fn all(&self) -> &[Project] {
        &self.0
    }

    /// By its path; the only one needs no name.
    pub fn find(&self, path: Option<&str>) -> Result<&Project, Problem> {
        match (path.filter(|path| !path.is_empty()), self.0.as_slice()) {
            (None, [only]) => Ok(only),
            (None, _) => Err(Problem::new(
                Code::BadRequest,
                "there are several projects: which one?",
                "say `project`: one of the paths of GET /v1/projects",
            )),
            (Some(path), all) => {
                let found = all.iter().find(|project| project.root == Path::new(path));
                found.ok_or_else(|| {
                    Problem::new(
                        Code::UnknownProject,
                        format!("{path} is no project that is served here"),
                        "start exacta serve with --project DIR",
                    )
                })
            }
        }
    }
}
